import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

try:
    jnp.ldexp(jnp.ones(1), jnp.ones(1))
except ValueError as error:
    print(error)
# prints: ldexp not supported for input types (dtype('float64'), dtype('float64'))
