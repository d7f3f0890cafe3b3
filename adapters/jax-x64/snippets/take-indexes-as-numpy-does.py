import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.take(jnp.array([1, 2, 3]), jnp.array([[-1, 0]])))
# prints: [[3 1]]
