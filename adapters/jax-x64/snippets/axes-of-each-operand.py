import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.linalg.cross(jnp.array([[1.0, 2.0, 3.0]]), jnp.array([3.0, 2.0, 1.0])))
# prints: [[-4.  8. -4.]]
