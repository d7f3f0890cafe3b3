import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.array([1, 2])[jnp.array([1, 0], jnp.uint8)])
# prints: [2 1]
