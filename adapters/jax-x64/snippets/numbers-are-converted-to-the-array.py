import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.array([1, 2], jnp.int8) + 300)
# prints: [45 46]
