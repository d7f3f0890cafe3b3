import numpy as np

try:
    np.copyto(np.zeros(2, dtype=np.int8), np.ones(2, dtype=np.float32))
except TypeError as error:
    print(error)
# prints: Cannot cast array data from dtype('float32') to dtype('int8') according to the rule 'same_kind'
