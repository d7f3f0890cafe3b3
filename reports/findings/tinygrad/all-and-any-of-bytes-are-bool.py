import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

print(Tensor([1], dtype=dtypes.uint8).all().dtype)
# prints: dtypes.bool
