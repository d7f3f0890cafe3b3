import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor.ones(2, 3).sum(axis=()).shape)
# prints: (2, 3)
