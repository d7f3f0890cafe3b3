import mlx.core as mx

print(mx.all(mx.array([1], mx.uint8)).dtype)
# prints: mlx.core.bool
