import jax.numpy as jnp

print(jnp.take(jnp.array([1, 2, 3]), jnp.array([[-1, 0]])))
# prints: [[3 1]]
