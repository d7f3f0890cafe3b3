import numpy as np

np.seterr(all="ignore")
print(np.array([7, 8]) // np.array([0, 2]))
# prints: [0 4]
