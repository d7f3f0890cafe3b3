import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor.zeros(0).argmax().tolist())
# prints: -2147483648
