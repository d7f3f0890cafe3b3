import jax.numpy as jnp

print(jnp.float_power(jnp.ones(1, jnp.float16), jnp.ones(1, jnp.float16)).dtype)
# prints: float16
