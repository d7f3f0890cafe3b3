import numpy as np

try:
    np.linalg.vecdot(np.ones((1, 2)), np.ones((2, 1)))
except ValueError as error:
    print(error)
# prints: vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() (size 1 is different from 2)
