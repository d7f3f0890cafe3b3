import numpy as np

try:
    np.array([1, -1, 2]) ** np.array([-1, -1, -1])
except ValueError as error:
    print(error)
# prints: Integers to negative integer powers are not allowed.
