import numpy as np

print((np.ones(2, dtype=np.int32) / np.int32(2)).dtype, (np.ones(2, dtype=np.int32) * 0.5).dtype)
# prints: float64 float64
