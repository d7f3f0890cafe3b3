import array_api_strict as xp

try:
    xp.pow(xp.asarray([1, -1, 2]), xp.asarray([-1, -1, -1]))
except ValueError as error:
    print(error)
# prints: Integers to negative integer powers are not allowed.
