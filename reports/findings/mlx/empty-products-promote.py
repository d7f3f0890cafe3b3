import mlx.core as mx

print((mx.ones((0, 1, 1), mx.float16) @ mx.ones((0, 1, 1))).dtype)
# prints: mlx.core.float32
