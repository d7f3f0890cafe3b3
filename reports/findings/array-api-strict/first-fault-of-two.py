import array_api_strict as xp

try:
    xp.var(xp.ones(2), axis=4, correction=1j)
except IndexError as error:
    print(error)
# prints: axis 4 is out of bounds for array of dimension 1
