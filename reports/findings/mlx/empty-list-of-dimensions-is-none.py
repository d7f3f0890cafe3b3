import mlx.core as mx

print(mx.sum(mx.ones((2, 3)), axis=[]).shape)
# prints: (2, 3)
