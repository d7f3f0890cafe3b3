import jax.numpy as jnp

print(jnp.linalg.solve(jnp.zeros((1, 1)), jnp.ones(1)))
# prints: [inf]
