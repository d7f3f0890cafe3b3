import jax.numpy as jnp

try:
    jnp.linalg.solve(jnp.eye(1, dtype=jnp.float16), jnp.ones(1, jnp.float16))
except NotImplementedError as error:
    print(error)
# prints: (KeyError(<class 'numpy.float16'>), 'Unsupported dtype float16.')
