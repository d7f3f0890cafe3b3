import numpy as np

try:
    np.broadcast_to(np.ones(1), (1,) * 65)
except ValueError as error:
    print(error)
# prints: maximum supported dimension for an ndarray is currently 64, found 65
