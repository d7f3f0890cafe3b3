import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.array([True]) // jnp.array([True]), jnp.array([1j]) < jnp.array([2j]), jnp.mean(jnp.array([1, 2])))
# prints: [1] [ True] 1.5
