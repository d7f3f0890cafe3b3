import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print((Tensor([3e38]) ** Tensor([1.0])).tolist())
# prints: [2.9999991942013716e+38]
