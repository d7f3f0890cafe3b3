import numpy as np

out = np.zeros(0, dtype=np.float32)
try:
    np.add(np.ones((2, 1), dtype=np.float32), np.ones(3, dtype=np.float32), out=out)
except ValueError as error:
    print(error)
# prints: operands could not be broadcast together with shapes (2,1) (3,) (0,) 
