import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

try:
    Tensor.ones(2, 1).masked_select(Tensor([True, False, True]))
except ValueError as error:
    print(error)
# prints: cannot broadcast (3,) to new_shape=(2, 1)
