import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print((Tensor([True]) // Tensor([True])).tolist(), Tensor([1, 2]).mean().tolist())
# prints: [1.0] 1.5
