import array_api_strict as xp

try:
    int(xp.asarray([1]))
except TypeError as error:
    print(error)
# prints: int is only allowed on arrays with 0 dimensions
