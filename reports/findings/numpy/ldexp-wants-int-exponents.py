import numpy as np

try:
    np.ldexp(np.ones(2), np.ones(2))
except TypeError as error:
    print(error)
# prints: ufunc 'ldexp' not supported for the input types, and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''
