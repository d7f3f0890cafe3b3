import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor.einsum("ii->i", Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).tolist())
# prints: [1.0, 5.0]
