import jax.numpy as jnp

print(jnp.array([2]) ** jnp.array([-1]), (jnp.array([True]) ** 1).dtype)
# prints: [0] int32
