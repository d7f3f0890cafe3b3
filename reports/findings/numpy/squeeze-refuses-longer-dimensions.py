import numpy as np

try:
    np.squeeze(np.ones((1, 3)), axis=1)
except ValueError as error:
    print(error)
# prints: cannot select an axis to squeeze out which has size not equal to one
