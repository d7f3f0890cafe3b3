import jax.numpy as jnp

print(jnp.einsum("i->", jnp.ones(2, jnp.int8)).dtype)
# prints: int8
