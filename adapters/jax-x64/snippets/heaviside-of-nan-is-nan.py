import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.heaviside(jnp.nan, 0.5))
# prints: nan
