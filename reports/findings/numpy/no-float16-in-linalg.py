import numpy as np

x = np.ones((1, 1), dtype=np.float16)
try:
    np.linalg.solve(x, x)
except TypeError as error:
    print(error)
# prints: array type float16 is unsupported in linalg
