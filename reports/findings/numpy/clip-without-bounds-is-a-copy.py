import numpy as np

print(np.clip(np.array([1 + 2j]), None, None))
# prints: [1.+2.j]
