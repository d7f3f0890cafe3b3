import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.array([1, 2, 3])[::-1])
# prints: [3 2 1]
