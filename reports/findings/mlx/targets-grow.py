import mlx.core as mx

x = mx.array([[1], [2]])
same = x
x += mx.array([1, 2])
print(x.shape, same.shape)
# prints: (2, 2) (2, 2)
