import numpy as np

print(np.var(np.array([1.0, 2.0])))
# prints: 0.25
