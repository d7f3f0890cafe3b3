import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

try:
    jnp.broadcast_to(jnp.ones((3, 1)), (-1, 2))
except ValueError as error:
    print(error)
# prints: Incompatible types for broadcasting: input type=float64[3,1] and requested type=float64[-1,2]
