import jax.numpy as jnp

try:
    jnp.linalg.vecdot(jnp.ones((2, 3)), jnp.ones((2, 2)))
except ValueError as error:
    print(error)
# prints: axes must match; got shapes (2, 3) and (2, 2) with axis=-1
