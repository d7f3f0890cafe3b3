import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor.ones(1, 3).expand(3).shape, Tensor([5]).expand(()).shape)
# prints: (1, 3) (1,)
