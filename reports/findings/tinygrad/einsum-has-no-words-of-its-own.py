import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

try:
    Tensor.einsum("ijk->i", Tensor.ones(2, 2))
except IndexError as error:
    print(error)
# prints: dim=2 out of range [-2, 1]
