import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print((jnp.ones(2, int) / 2).dtype, (jnp.ones(2, jnp.int32) * 0.5).dtype)
# prints: float64 float64
