import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor([1, 2]).masked_fill(Tensor([True, False]), 0.5).tolist())
# prints: [0.5, 2.0]
