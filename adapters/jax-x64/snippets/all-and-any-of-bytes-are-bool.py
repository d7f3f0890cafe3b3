import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.all(jnp.ones(2, jnp.uint8)).dtype)
# prints: bool
