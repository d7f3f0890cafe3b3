import jax.numpy as jnp

print((jnp.ones((0, 1, 1), jnp.int16) @ jnp.ones((0, 1, 1), jnp.float32)).dtype)
# prints: float32
