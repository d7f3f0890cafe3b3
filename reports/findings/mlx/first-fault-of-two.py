import mlx.core as mx

try:
    mx.array([True, False]) - mx.array([True, False, True])
except ValueError as error:
    print(error)
# prints: [broadcast_shapes] Shapes (2) and (3) cannot be broadcast.
