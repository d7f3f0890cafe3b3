import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

print((Tensor([1, 2], dtype=dtypes.int8) + 300).tolist())
# prints: [45, 46]
