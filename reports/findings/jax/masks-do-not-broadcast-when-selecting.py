import jax.numpy as jnp

try:
    jnp.ones((2, 3))[jnp.array([True, False, True])]
except IndexError as error:
    print(error)
# prints: boolean index did not match shape of indexed array in index 0: got (3,), expected [2]
