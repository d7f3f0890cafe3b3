import jax.numpy as jnp

print(jnp.sum(jnp.ones((2, 3)), axis=()).shape)
# prints: (2, 3)
