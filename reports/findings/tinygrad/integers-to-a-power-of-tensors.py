import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print((Tensor([2]) ** 3).tolist())
try:
    (Tensor([2]) ** Tensor([3])).tolist()
except TypeError as error:
    print(error)
# prints: [8]
# prints: memoryview: invalid type for format 'i'
