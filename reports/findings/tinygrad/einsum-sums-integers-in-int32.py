import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

bytes_ = Tensor([1, 2], dtype=dtypes.int8)
print(Tensor.einsum("i,i->", bytes_, bytes_).dtype)
# prints: dtypes.int
