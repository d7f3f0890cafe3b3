import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

one, nan = Tensor([1.0]), Tensor([float("nan")])
print(nan.maximum(one).tolist(), one.maximum(nan).tolist(), Tensor([1.0, float("nan")]).max().tolist())
# prints: [nan] [1.0] 1.0
