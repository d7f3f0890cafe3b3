import jax.numpy as jnp

print(jnp.array([7]) // jnp.array([0]), jnp.array([7], jnp.uint8) // jnp.array([0], jnp.uint8), jnp.array([7]) % jnp.array([0]))
# prints: [-2] [255] [0]
