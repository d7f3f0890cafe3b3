import array_api_strict as xp

try:
    xp.broadcast_shapes((3,), (-1,))
except ValueError as error:
    print(error)
# prints: negative dimensions are not allowed
