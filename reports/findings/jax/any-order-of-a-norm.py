import jax.numpy as jnp

print(jnp.linalg.vector_norm(jnp.zeros(0), ord=-2))
# prints: inf
