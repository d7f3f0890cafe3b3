import subprocess
import sys

program = "import jax.numpy as jnp; print(jnp.%s(jnp.int8(-128), jnp.int8(5)))"
for name in ("gcd", "lcm"):
    try:
        subprocess.run([sys.executable, "-c", program.replace("%s", name)], timeout=20)
    except subprocess.TimeoutExpired:
        print(name, "is not done after 20 seconds")
# prints: gcd is not done after 20 seconds
# prints: lcm is not done after 20 seconds
