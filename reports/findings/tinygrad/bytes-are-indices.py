import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

print(Tensor([1, 2])[Tensor([1, 0], dtype=dtypes.uint8)].tolist())
# prints: [2, 1]
