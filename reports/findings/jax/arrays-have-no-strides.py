import jax.numpy as jnp

print(jnp.broadcast_to(jnp.ones((0, 1, 1)), (0, 2**33, 2**33)).shape)
# prints: (0, 8589934592, 8589934592)
