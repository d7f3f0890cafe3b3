import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.einsum("12->1", jnp.ones((2, 3))))
# prints: [3. 3.]
