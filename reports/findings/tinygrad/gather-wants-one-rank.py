import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

try:
    Tensor([1, 2]).gather(0, Tensor(1))
except RuntimeError as error:
    print(error)
# prints: self.ndim must equal index.ndim, self.ndim=1, index.ndim=0
