import mlx.core as mx

x = mx.array([[1, 2], [3, 4]])
row = x[0]
row += 10
print(x.tolist())
# prints: [[1, 2], [3, 4]]
