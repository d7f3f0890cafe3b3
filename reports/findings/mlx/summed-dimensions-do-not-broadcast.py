import mlx.core as mx

try:
    mx.tensordot(mx.ones((2, 1)), mx.ones((3, 4)), axes=[[1], [0]])
except ValueError as error:
    print(error)
# prints: [tensordot] a and b must have the same shape on the contracted axes.
