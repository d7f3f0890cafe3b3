import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print((Tensor([1e30]) % Tensor([1e-10])).tolist())
# prints: [-inf]
