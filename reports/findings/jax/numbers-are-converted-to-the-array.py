import jax.numpy as jnp

print(jnp.array([1, 2], jnp.int8) + 300)
# prints: [45 46]
