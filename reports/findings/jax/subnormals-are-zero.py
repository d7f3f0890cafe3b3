import jax.numpy as jnp

print(jnp.any(jnp.array([1e-45], jnp.float32)), jnp.float32(1e-45) == 0)
# prints: False True
