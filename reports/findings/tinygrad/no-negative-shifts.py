import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

try:
    (Tensor([1]) << Tensor([-1])).tolist()
except ValueError as error:
    print(error)
# prints: negative shift count
