import os

os.environ["DEV"] = "PYTHON"

from tinygrad import Tensor

print(Tensor([float("inf"), 1.0]).logsumexp().tolist())
# prints: nan
