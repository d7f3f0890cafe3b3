import mlx.core as mx

print(mx.sum(mx.array([1, 2], mx.int8)).dtype, mx.array([1, 2]).dtype)
# prints: mlx.core.int32 mlx.core.int32
