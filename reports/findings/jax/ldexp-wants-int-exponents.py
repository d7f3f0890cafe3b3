import jax.numpy as jnp

try:
    jnp.ldexp(jnp.ones(1), jnp.ones(1))
except ValueError as error:
    print(error)
# prints: ldexp not supported for input types (dtype('float32'), dtype('float32'))
