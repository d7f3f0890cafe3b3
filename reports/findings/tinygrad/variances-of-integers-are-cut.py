import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor([1, 2]).var().tolist(), Tensor([1.0, 2.0]).var().tolist())
# prints: 0.0 0.5
