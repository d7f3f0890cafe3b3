import jax.numpy as jnp

print(jnp.minimum(jnp.zeros(1), -jnp.zeros(1)), jnp.minimum(-jnp.zeros(1), jnp.zeros(1)))
# prints: [-0.] [-0.]
