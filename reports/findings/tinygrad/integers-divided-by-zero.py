import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print((Tensor([7, 8]) // Tensor([0, 2])).tolist(), (Tensor([7, 8]) % Tensor([0, 2])).tolist())
# prints: [0, 4] [7, 0]
