import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor([1, 2, 3])[::-1].tolist())
# prints: [3, 2, 1]
