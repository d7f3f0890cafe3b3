import mlx.core as mx

print(mx.array([1]) << mx.array([33]))
# prints: array([2], dtype=int32)
