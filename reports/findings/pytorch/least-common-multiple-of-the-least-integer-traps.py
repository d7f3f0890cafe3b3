import subprocess
import sys

program = """
import torch
torch.lcm(torch.tensor(-(2**31), dtype=torch.int32), torch.tensor(5, dtype=torch.int32))
"""
print(subprocess.run([sys.executable, "-c", program]).returncode)
# prints: -8
