import numpy as np

print(np.all(np.array([1, 0], dtype=np.uint8)).dtype)
# prints: bool
