import jax.numpy as jnp

try:
    jnp.array([True, False]) - jnp.array([True, False, True])
except TypeError as error:
    print(error)
# prints: sub got incompatible shapes for broadcasting: (2,), (3,).
