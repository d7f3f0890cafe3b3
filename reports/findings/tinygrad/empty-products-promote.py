import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

print((Tensor.ones(0, 1, 1, dtype=dtypes.int16) @ Tensor.ones(0, 1, 1)).dtype)
# prints: dtypes.float
