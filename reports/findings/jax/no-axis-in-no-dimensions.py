import jax.numpy as jnp

try:
    jnp.sum(jnp.array(3.0), axis=0)
except ValueError as error:
    print(error)
try:
    jnp.mean(jnp.array(3.0), axis=0)
except IndexError as error:
    print(error)
# prints: axis 0 is out of bounds for array of dimension 0
# prints: tuple index out of range
