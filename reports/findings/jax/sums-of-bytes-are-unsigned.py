import jax.numpy as jnp

print(jnp.sum(jnp.ones(2, jnp.uint8)).dtype)
# prints: uint32
