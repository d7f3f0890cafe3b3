import jax.numpy as jnp

print(jnp.einsum("ii->i", jnp.ones((1, 3))))
# prints: [1. 0. 0.]
