import array_api_strict as xp

try:
    xp.divide(xp.asarray([1]), xp.asarray([2]))
except TypeError as error:
    print(error)
# prints: Only floating-point dtypes are allowed in divide(...). Got array_api_strict.int64 and array_api_strict.int64.
