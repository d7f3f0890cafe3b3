import jax.numpy as jnp

print((jnp.ones((1, 1), jnp.float16) @ jnp.ones((1, 1), jnp.float32)).dtype)
# prints: float32
