import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor.ones(2, 2).binary_crossentropy_logits(Tensor.ones(2), reduction="none").shape)
# prints: (2, 2)
