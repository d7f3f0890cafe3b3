import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor([-2147483648]).isclose(Tensor([2147483647])).tolist())
# prints: [True]
