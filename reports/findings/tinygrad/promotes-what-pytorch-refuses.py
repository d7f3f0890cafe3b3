import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

print((Tensor.ones(1, 1) @ Tensor.ones(1, 1, dtype=dtypes.float64)).dtype)
# prints: dtypes.double
