import numpy as np

x = np.array([1, 2, 3])
x[1:] += x[:-1]
print(x)
# prints: [1 3 5]
