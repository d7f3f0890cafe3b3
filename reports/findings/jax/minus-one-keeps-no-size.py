import jax.numpy as jnp

try:
    jnp.broadcast_to(jnp.ones((3, 1)), (-1, 2))
except ValueError as error:
    print(error)
# prints: Incompatible types for broadcasting: input type=float32[3,1] and requested type=float32[-1,2]
