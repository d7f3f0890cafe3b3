import subprocess
import sys

program = "import jax.numpy as jnp; jnp.broadcast_to(jnp.ones(1), (2**32, 2**32))"
print(subprocess.run([sys.executable, "-c", program], capture_output=True).returncode)
# prints: -6
