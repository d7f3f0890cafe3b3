import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

x = Tensor([[1.0, 2.0]])
print(x.max(keepdim=True).shape, x.argmax(keepdim=True).shape)
# prints: (1, 1) ()
