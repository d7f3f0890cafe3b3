import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.einsum("i->", jnp.ones(2, jnp.int8)).dtype)
# prints: int8
