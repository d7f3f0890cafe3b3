import mlx.core as mx

try:
    mx.array([1, 2])[mx.array([True, False])]
except ValueError as error:
    print(error)
# prints: boolean indices are not yet supported
