import mlx.core as mx

x = mx.zeros((2, 3))
x[mx.array([0])] = mx.ones((1, 1, 3), mx.int32)
print(x.tolist())
# prints: [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
