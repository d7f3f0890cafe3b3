import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

true = Tensor([True])
print((true - true).tolist(), true.logsumexp().tolist())
# prints: [True] 2.0
