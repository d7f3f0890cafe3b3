import jax.numpy as jnp

print(jnp.sum(jnp.ones((1,) * 64)[None]))
# prints: 1.0
