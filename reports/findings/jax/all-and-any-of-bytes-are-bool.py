import jax.numpy as jnp

print(jnp.all(jnp.ones(2, jnp.uint8)).dtype)
# prints: bool
