import jax.numpy as jnp

try:
    jnp.squeeze(jnp.ones((1, 3)), axis=1)
except ValueError as error:
    print(error)
# prints: cannot select an axis to squeeze out which has size not equal to one, got shape=(1, 3) and dimensions=(1,)
