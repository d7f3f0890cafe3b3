import jax.numpy as jnp

print(jnp.sum(jnp.ones(2, jnp.int32)).dtype, jnp.argmax(jnp.ones(2)).dtype)
# prints: int32 int32
