import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.linalg.solve(jnp.zeros((1, 1)), jnp.ones(1)))
# prints: [inf]
