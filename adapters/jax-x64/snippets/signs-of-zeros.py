import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

print(jnp.minimum(jnp.zeros(1), -jnp.zeros(1)), jnp.minimum(-jnp.zeros(1), jnp.zeros(1)))
# prints: [-0.] [-0.]
