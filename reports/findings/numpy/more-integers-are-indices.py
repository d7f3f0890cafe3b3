import numpy as np

x = np.array([1.0, 2.0, 3.0])
print(x[np.array([1], dtype=np.int8)], x[np.array([1, 0, 1], dtype=np.uint8)])
# prints: [2.] [2. 1. 2.]
