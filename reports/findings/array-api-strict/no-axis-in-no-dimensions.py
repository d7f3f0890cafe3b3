import array_api_strict as xp

try:
    xp.mean(xp.asarray(3.0), axis=0)
except ValueError as error:
    print(error)
# prints: axis 0 is out of bounds for array of dimension 0
