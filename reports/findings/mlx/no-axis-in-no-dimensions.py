import mlx.core as mx

try:
    mx.sum(mx.array(3.0), axis=0)
except IndexError as error:
    print(error)
# prints: Invalid axis 0 for array with 0 dimensions.
