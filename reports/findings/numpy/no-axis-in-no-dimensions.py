import numpy as np

try:
    np.mean(np.array(3.0), axis=0)
except np.exceptions.AxisError as error:
    print(error)
# prints: axis 0 is out of bounds for array of dimension 0
