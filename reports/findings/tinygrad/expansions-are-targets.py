import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

x = Tensor([1, 2, 3]).contiguous().realize()
wide = x.expand(2, 3)
wide += 10
print(wide.tolist(), x.tolist())
# prints: [[11, 12, 13], [11, 12, 13]] [11, 12, 13]
