import jax.numpy as jnp

x = jnp.array([1.0, 2.0, 3.0])
beyond = jnp.array([7])
print(x[beyond], jnp.take(x, beyond), x.at[beyond].set(9))
# prints: [3.] [nan] [1. 2. 3.]
