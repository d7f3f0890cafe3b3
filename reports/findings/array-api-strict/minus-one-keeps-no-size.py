import array_api_strict as xp

try:
    xp.broadcast_to(xp.ones((2, 1)), (-1, 3))
except ValueError as error:
    print(error)
# prints: all elements of broadcast shape must be non-negative
