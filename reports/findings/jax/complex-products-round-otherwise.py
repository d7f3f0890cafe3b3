import jax.numpy as jnp

print(jnp.array([0.1 + 0.3j]) * jnp.array([0.3 + 0.1j]))
# prints: [4.4703485e-10+0.10000001j]
