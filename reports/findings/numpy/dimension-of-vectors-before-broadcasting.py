import numpy as np

print(np.linalg.vecdot(np.array([[1, 2], [3, 4]]), np.array([10, 1]), axis=0))
# prints: [13 24]
