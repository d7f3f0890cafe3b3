import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.array([2]) ** jnp.array([-1]), (jnp.array([True]) ** 1).dtype)
# prints: [-9223372036854775808] int32
