import mlx.core as mx

print(mx.array([7, 8]) // mx.array([0, 2]), mx.array([7, 8]) % mx.array([0, 2]))
# prints: array([0, 4], dtype=int32) array([7, 0], dtype=int32)
