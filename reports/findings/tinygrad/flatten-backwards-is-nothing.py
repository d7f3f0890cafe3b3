import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor.ones(2, 3).flatten(1, 0).shape)
# prints: (2, 1, 3)
