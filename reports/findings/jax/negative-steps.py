import jax.numpy as jnp

print(jnp.array([1, 2, 3])[::-1])
# prints: [3 2 1]
