import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

try:
    Tensor([1, 2])[Tensor([True, False])]
except IndexError as error:
    print(error)
# prints: index dtype dtypes.bool is not supported
