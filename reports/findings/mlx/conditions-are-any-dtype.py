import mlx.core as mx

print(mx.where(mx.array([0.5]), 1, 2))
# prints: array([1], dtype=int32)
