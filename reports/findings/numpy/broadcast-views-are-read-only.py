import numpy as np

try:
    np.broadcast_to(np.ones(1), (3,))[...] = 2
except ValueError as error:
    print(error)
# prints: assignment destination is read-only
