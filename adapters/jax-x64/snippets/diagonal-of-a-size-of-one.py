import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.einsum("ii->i", jnp.ones((1, 3))))
# prints: [1. 0. 0.]
