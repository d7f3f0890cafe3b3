import mlx.core as mx

try:
    mx.broadcast_to(mx.ones((3, 1)), (-1, 2))
except ValueError as error:
    print(error)
# prints: [broadcast_to] Negative dimensions not allowed.
