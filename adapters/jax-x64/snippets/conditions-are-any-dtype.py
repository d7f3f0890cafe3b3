import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.where(jnp.array([0.5]), 1, 2))
# prints: [1]
