import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

try:
    Tensor([1], dtype=dtypes.uint8).where(1, 2)
except RuntimeError as error:
    print(error)
# prints: where cond must be bool, got dtypes.uchar
