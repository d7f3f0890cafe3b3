import jax.numpy as jnp

x = jnp.array([True, False])
print(x * x)
try:
    jnp.kron(x, x)
except TypeError as error:
    print(error)
# prints: [ True False]
# prints: mul does not accept dtype bool at position 0. Accepted dtypes at position 0 are subtypes of integer, floating, complexfloating.
