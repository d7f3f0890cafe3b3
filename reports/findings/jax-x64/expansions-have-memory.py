import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.broadcast_to(jnp.ones(1), (1000, 1000)).nbytes)
# prints: 8000000
