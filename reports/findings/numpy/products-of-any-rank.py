import numpy as np

print(np.outer(np.ones((2, 2)), np.ones(3)).shape, np.vdot(np.ones((2, 2)), np.ones((2, 2))))
# prints: (4, 3) 4.0
