import numpy as np

print(np.array([0.1 + 0.3j]) * np.array([0.3 + 0.1j]), (0.1 + 0.3j) * (0.3 + 0.1j))
# prints: [1.66533454e-18+0.1j] 0.1j
