import mlx.core as mx

print(mx.array([1, 2, 3])[::-1])
# prints: array([3, 2, 1], dtype=int32)
