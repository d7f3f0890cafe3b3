import numpy as np

print(np.heaviside(np.nan, 0.5))
# prints: nan
