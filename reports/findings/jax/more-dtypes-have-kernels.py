import jax.numpy as jnp

print(jnp.array([True]) // jnp.array([True]), jnp.array([1j]) < jnp.array([2j]), jnp.mean(jnp.array([1, 2])))
# prints: [1] [ True] 1.5
