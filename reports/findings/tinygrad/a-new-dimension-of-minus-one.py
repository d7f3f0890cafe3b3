import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor([1, 2]).expand(-1, 2).shape)
# prints: (1, 2)
