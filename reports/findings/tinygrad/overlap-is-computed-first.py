import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

x = Tensor([1, 2, 3]).contiguous().realize()
x[1:] += x[:-1]
print(x.tolist())
# prints: [1, 3, 5]
