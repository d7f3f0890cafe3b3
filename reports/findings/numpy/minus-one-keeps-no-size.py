import numpy as np

try:
    np.broadcast_to(np.ones((2, 1)), (-1, 3))
except ValueError as error:
    print(error)
# prints: all elements of broadcast shape must be non-negative
