import mlx.core as mx

x = mx.array([1, 2, 3])
x[1:] = x[:-1] + x[1:]
wide = mx.broadcast_to(mx.array([1]), (2,))
wide += mx.array([1, 2])
print(x.tolist(), wide.tolist())
# prints: [1, 3, 5] [2, 3]
