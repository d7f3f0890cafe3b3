import subprocess
import sys

program = "import mlx.core as mx; print(mx.array([1, 2, 3])[::0])"
print(subprocess.run([sys.executable, "-c", program], capture_output=True).returncode)
# prints: -8
