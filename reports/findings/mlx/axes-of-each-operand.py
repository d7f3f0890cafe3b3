import mlx.core as mx

try:
    mx.vecdot(mx.ones((2, 2)), mx.ones((2,)), axis=1)
except ValueError as error:
    print(error)
# prints: [vecdot] axis is out of bounds.
