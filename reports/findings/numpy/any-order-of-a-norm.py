import numpy as np

np.seterr(all="ignore")
print(np.linalg.vector_norm(np.ones(0), ord=-2), np.linalg.vector_norm(np.array([3, 4]), ord=2 + 0j))
# prints: inf 5.0
