import jax.numpy as jnp

try:
    jnp.tensordot(jnp.ones((2, 1)), jnp.ones((3, 4)), axes=([1], [0]))
except TypeError as error:
    print(error)
# prints: dot_general requires contracting dimensions to have the same shape, got (1,) and (3,).
