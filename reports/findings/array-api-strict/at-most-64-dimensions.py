import array_api_strict as xp

try:
    xp.broadcast_to(xp.ones(1), (1,) * 65)
except ValueError as error:
    print(error)
# prints: maximum supported dimension for an ndarray is currently 64, found 65
