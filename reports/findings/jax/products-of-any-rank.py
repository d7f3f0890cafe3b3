import jax.numpy as jnp

print(jnp.outer(jnp.ones((2, 2)), jnp.ones(3)).shape, jnp.vdot(jnp.ones((2, 2)), jnp.ones((2, 2))))
# prints: (4, 3) 4.0
