import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor, dtypes

bytes_ = Tensor([1, 2], dtype=dtypes.int8)
print(bytes_.argmax().dtype, bytes_.sum().dtype, bytes_.prod().dtype)
# prints: dtypes.int dtypes.int dtypes.char
