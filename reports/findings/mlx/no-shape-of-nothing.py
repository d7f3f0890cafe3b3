import mlx.core as mx

try:
    mx.broadcast_shapes()
except ValueError as error:
    print(error)
# prints: [broadcast_shapes] Must provide at least one shape.
