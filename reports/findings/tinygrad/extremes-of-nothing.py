import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor.zeros(0).max().tolist())
# prints: -inf
