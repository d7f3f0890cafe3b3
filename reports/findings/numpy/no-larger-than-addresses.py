import numpy as np

try:
    np.broadcast_to(np.ones(1), (2**62,))
except ValueError as error:
    print(error)
# prints: array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.
