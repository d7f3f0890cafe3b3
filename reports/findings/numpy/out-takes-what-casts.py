import numpy as np

out = np.zeros(2, dtype=np.int32)
np.argmax(np.array([[1, 2], [4, 3]]), axis=1, out=out)
print(out, out.dtype)
# prints: [1 0] int32
