import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

try:
    Tensor.einsum("i,i->", Tensor.ones(1), Tensor.ones(2))
except RuntimeError as error:
    print(str(error)[-42:])
# prints: contains different values for the same key
