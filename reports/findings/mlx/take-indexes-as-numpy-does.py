import mlx.core as mx

print(mx.take(mx.array([1, 2, 3]), mx.array([[-1, 0]]), axis=0))
# prints: array([[3, 1]], dtype=int32)
