import mlx.core as mx

print(mx.array([3.0], mx.float16) * 1.0005)
# prints: array([3.00391], dtype=float16)
