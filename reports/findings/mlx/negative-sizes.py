import mlx.core as mx

print(mx.ones((2, 3)).reshape(-3, -2).shape, mx.broadcast_shapes((2, 1), (1, -1)))
# prints: (-3, -2) (2, -1)
