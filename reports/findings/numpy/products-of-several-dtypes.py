import numpy as np

print((np.ones((2, 2), dtype=np.float32) @ np.ones((2, 2), dtype=np.float64)).dtype)
# prints: float64
