import numpy as np

print(np.array([1, 2, 3])[::-1])
# prints: [3 2 1]
