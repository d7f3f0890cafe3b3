import numpy as np

try:
    np.ones(2, dtype=np.int8) + 300
except OverflowError as error:
    print(error)
# prints: Python integer 300 out of bounds for int8
