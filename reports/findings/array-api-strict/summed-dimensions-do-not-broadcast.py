import array_api_strict as xp

try:
    xp.tensordot(xp.ones((2, 1)), xp.ones((3, 4)), axes=1)
except ValueError as error:
    print(error)
# prints: shape-mismatch for sum
