import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

x = Tensor([1, 2, 3]).contiguous().realize()
print(x[Tensor([0, 7])].tolist())
x[Tensor([7])] = Tensor([9])
print(x.tolist())
# prints: [1, 0]
# prints: [1, 2, 3]
