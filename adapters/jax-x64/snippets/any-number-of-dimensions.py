import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.sum(jnp.ones((1,) * 64)[None]))
# prints: 1.0
