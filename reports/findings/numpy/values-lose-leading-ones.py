import numpy as np

x = np.array([[1, 2, 3], [4, 5, 6]])
x[np.array([0])] = np.zeros((1, 1, 3))
print(x.tolist())
# prints: [[0, 0, 0], [4, 5, 6]]
