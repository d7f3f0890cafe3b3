import numpy as np

x = np.ones((2, 3))
element = x[0, 0]
element += 1.0
print(type(element).__name__, float(element), float(x[0, 0]))
# prints: float64 2.0 1.0
