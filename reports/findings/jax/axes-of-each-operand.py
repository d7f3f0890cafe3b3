import jax.numpy as jnp

print(jnp.linalg.cross(jnp.array([[1.0, 2.0, 3.0]]), jnp.array([3.0, 2.0, 1.0])))
# prints: [[-4.  8. -4.]]
