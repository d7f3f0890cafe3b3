import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.float_power(jnp.ones(1, jnp.float16), jnp.ones(1, jnp.float16)).dtype)
# prints: float16
