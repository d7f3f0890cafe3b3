import jax.numpy as jnp

print((jnp.ones(2, jnp.float16) + jnp.array(1.0, jnp.float32)).dtype)
# prints: float32
