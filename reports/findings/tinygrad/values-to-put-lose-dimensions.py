import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

x = Tensor.zeros(2, 3).contiguous().realize()
x[Tensor([0])] = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
print(x.tolist())
# prints: [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
