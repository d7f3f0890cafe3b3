import numpy as np

print(np.sum(np.ones(2, dtype=np.uint8)).dtype)
# prints: uint64
