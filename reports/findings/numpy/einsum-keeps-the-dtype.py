import numpy as np

print(np.einsum("i->", np.array([100, 100], dtype=np.int8)))
# prints: -56
