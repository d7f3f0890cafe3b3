import jax.numpy as jnp

print(jnp.array([1, 2])[jnp.array([1, 0], jnp.uint8)])
# prints: [2 1]
