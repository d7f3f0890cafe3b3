import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor([1.0]).clamp(Tensor([float("nan")])).tolist())
# prints: [1.0]
