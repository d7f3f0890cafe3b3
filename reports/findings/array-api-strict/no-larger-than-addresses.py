import array_api_strict as xp

try:
    xp.broadcast_to(xp.ones(1), (2**62,))
except ValueError as error:
    print(error)
# prints: array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.
