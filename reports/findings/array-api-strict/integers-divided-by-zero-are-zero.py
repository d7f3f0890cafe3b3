import warnings

import array_api_strict as xp

warnings.simplefilter("ignore")
print(xp.asarray([7, 8]) // xp.asarray([0, 2]))
# prints: Array([0, 4], dtype=array_api_strict.int64)
