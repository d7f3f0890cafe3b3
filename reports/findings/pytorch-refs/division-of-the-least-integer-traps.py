import subprocess
import sys

program = """
import torch
import torch._refs as refs
refs.div(torch.tensor(-(2**31), dtype=torch.int32), -1, rounding_mode='trunc')
"""
print(subprocess.run([sys.executable, "-c", program]).returncode)
# prints: -8
