import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

try:
    x = Tensor([1, 2])
    x += 0.5
except RuntimeError as error:
    print(error)
# prints: assign dtype mismatch dtypes.int != dtypes.weakfloat
