import mlx.core as mx

print((mx.array([1.0], mx.float16) + mx.array(1.0)).dtype)
# prints: mlx.core.float32
