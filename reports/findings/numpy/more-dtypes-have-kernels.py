import numpy as np

print(np.array([True]) // np.array([True]), np.array([1 + 1j]) < np.array([1 + 2j]))
# prints: [1] [ True]
