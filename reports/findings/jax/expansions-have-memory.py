import jax.numpy as jnp

print(jnp.broadcast_to(jnp.ones(1), (1000, 1000)).nbytes)
# prints: 4000000
