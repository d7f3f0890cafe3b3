import numpy as np

print((np.ones((2, 0), dtype=np.float32) @ np.ones((0, 2), dtype=np.int16)).dtype)
# prints: float32
