import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor(1.0).expand(4, 0, -3).shape)
# prints: (4, 0, -3)
