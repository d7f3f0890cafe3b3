import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.sum(jnp.ones(2, jnp.uint8)).dtype)
# prints: uint64
