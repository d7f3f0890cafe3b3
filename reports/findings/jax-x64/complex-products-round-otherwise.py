import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.array([0.1 + 0.3j]) * jnp.array([0.3 + 0.1j]))
# prints: [1.66533454e-18+0.1j]
