import subprocess
import sys

program = "import mlx.core as mx; print(mx.broadcast_shapes((1,), (1000000000000,)))"
print(subprocess.run([sys.executable, "-c", program], capture_output=True).returncode)
# prints: -6
