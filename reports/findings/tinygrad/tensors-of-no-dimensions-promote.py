import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

print((Tensor([1.0]) + Tensor(1.0, dtype=dtypes.float64)).dtype)
# prints: dtypes.double
