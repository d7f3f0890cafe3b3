import numpy as np

for mask in ([[True], [False]], [True, False]):
    try:
        np.copyto(np.ones(3), 0, where=np.array(mask))
    except ValueError as error:
        print(error)
# prints: could not broadcast where mask from shape (2,1) into shape (3,)
# could not broadcast where mask from shape (2,) into shape (3,)
