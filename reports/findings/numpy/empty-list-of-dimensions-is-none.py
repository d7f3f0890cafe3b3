import numpy as np

print(np.sum(np.ones((2, 3)), axis=()).shape)
# prints: (2, 3)
