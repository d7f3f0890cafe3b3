import mlx.core as mx

print(mx.argmax(mx.array([1, 2])).dtype, mx.sum(mx.array([1, 2], mx.uint8)).dtype)
# prints: mlx.core.uint32 mlx.core.uint32
