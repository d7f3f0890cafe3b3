import jax.numpy as jnp

print(jnp.heaviside(jnp.nan, 0.5))
# prints: nan
