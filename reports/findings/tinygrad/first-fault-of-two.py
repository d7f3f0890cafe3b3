import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

try:
    (Tensor([True, False]) - Tensor([True, False, True])).tolist()
except IndexError as error:
    print(error)
# prints: shape mismatch: objects cannot be broadcast to a single shape ((2,), (3,))
