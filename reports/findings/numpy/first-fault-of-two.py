import numpy as np

try:
    np.multiply(np.ones((2, 3)), np.ones(2), out=np.zeros(2, dtype=np.int64))
except TypeError as error:
    print(error)
# prints: Cannot cast ufunc 'multiply' output from dtype('float64') to dtype('int64') with casting rule 'same_kind'
