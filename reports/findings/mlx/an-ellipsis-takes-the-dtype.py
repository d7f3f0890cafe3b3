import mlx.core as mx

x, y = mx.array([1, 2], mx.int8), mx.array([1, 2], mx.int8)
x[...] = mx.array([0.5, 1.5])
y[:] = mx.array([0.5, 1.5])
print(x.dtype, y.dtype)
# prints: mlx.core.float32 mlx.core.int8
