import jax.numpy as jnp

print(jnp.where(jnp.array([0.5]), 1, 2))
# prints: [1]
