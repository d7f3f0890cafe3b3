import jax.numpy as jnp

print(jnp.einsum("12->1", jnp.ones((2, 3))))
# prints: [3. 3.]
