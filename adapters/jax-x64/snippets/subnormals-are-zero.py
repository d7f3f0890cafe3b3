import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.any(jnp.array([1e-45], jnp.float32)), jnp.float32(1e-45) == 0)
# prints: False True
