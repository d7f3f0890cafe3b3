import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

x = Tensor.zeros(2, 2).contiguous().realize()
print(x.assign(Tensor([1.0, 2.0])).tolist())
# prints: [[1.0, 2.0], [1.0, 2.0]]
