import mlx.core as mx

x = mx.array([1, 2])
print(x[mx.array([1, 0], mx.uint8)], x[mx.array([1, 0], mx.int8)])
# prints: array([2, 1], dtype=int32) array([2, 1], dtype=int32)
