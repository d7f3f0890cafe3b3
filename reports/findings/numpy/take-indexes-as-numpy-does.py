import numpy as np

x = np.array([[1, 2], [3, 4]])
print(np.take(x, [[-1]], axis=1).tolist(), np.take_along_axis(x, np.uint8([[0]]), axis=1).tolist())
# prints: [[[2]], [[4]]] [[1], [3]]
