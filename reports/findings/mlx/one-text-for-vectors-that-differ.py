import mlx.core as mx

try:
    mx.vecdot(mx.ones((2, 3)), mx.ones((2, 2)))
except ValueError as error:
    print(error)
# prints: [vecdot] a and b must have the same size along axis.
