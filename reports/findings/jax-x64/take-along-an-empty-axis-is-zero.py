import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

indices = jnp.ones((1, 1), int)
print(jnp.take_along_axis(jnp.zeros((1, 1)), indices, axis=1), jnp.take_along_axis(jnp.zeros((1, 0)), indices, axis=1))
# prints: [[nan]] [[0.]]
