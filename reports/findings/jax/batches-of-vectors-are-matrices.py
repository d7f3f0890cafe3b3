import jax.numpy as jnp

try:
    jnp.linalg.solve(jnp.ones((2, 1, 1)), jnp.ones((2, 1)))
except ValueError as error:
    print(error)
# prints: Invalid shapes for solve: (2, 1, 1), (2, 1). Prior to JAX v0.5.0, this would have been treated as a batched 1-dimensional solve. To recover this behavior, use solve(a, b[..., None]).squeeze(-1).
