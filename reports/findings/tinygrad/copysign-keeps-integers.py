import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor([1]).copysign(Tensor([-1])).dtype)
# prints: dtypes.int
