import mlx.core as mx

print(mx.flatten(mx.ones((2, 3)), 0, 7).shape)
# prints: (6,)
