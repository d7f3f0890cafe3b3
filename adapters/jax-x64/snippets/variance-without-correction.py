import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.var(jnp.array([1.0, 2.0])))
# prints: 0.25
