import subprocess
import sys

program = """
import torch
import torch._refs as refs
refs.floor_divide(torch.tensor([-(2**31)], dtype=torch.int32), torch.tensor([-1], dtype=torch.int32))
"""
print(subprocess.run([sys.executable, "-c", program]).returncode)
# prints: -8
