import numpy as np

try:
    np.ones((2, 3))[np.array([True, False, True])]
except IndexError as error:
    print(error)
# prints: boolean index did not match indexed array along axis 0; size of axis is 2 but size of corresponding boolean axis is 3
