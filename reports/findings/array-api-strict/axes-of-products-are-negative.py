import array_api_strict as xp

try:
    xp.vecdot(xp.ones((2, 2)), xp.ones((2, 2)), axis=0)
except ValueError as error:
    print(error)
# prints: axis must be negative in vecdot
