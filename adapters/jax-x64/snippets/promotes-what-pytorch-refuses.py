import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print((jnp.ones((1, 1), jnp.float16) @ jnp.ones((1, 1), jnp.float32)).dtype)
# prints: float32
