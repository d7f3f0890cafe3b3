import array_api_strict as xp

try:
    xp.ones(2) + xp.asarray([1, 2])
except TypeError as error:
    print(error)
# prints: array_api_strict.float64 and array_api_strict.int64 cannot be type promoted together
