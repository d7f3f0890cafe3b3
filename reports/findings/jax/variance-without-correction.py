import jax.numpy as jnp

print(jnp.var(jnp.array([1.0, 2.0])))
# prints: 0.25
