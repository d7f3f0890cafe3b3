import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.linalg.vector_norm(jnp.zeros(0), ord=-2))
# prints: inf
