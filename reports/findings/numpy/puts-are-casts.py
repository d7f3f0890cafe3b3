import numpy as np

x = np.array([1, 2], dtype=np.float32)
np.add.at(x, np.array([True, False]), np.int64(1))
print(x)
# prints: [2. 2.]
