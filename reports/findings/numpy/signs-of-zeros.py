import numpy as np

print(np.maximum(np.zeros(2), -np.zeros(2)), np.maximum(-np.zeros(2), np.zeros(2)))
# prints: [-0. -0.] [0. 0.]
