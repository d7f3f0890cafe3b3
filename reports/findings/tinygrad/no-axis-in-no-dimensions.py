import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

x = Tensor([3.0]).reshape(())
print(x.sum(0).tolist())
try:
    x.argmax(0)
except IndexError as error:
    print(error)
# prints: 3.0
# prints: tuple index out of range
