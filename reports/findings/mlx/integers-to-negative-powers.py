import mlx.core as mx

print(mx.array([1, 2]) ** mx.array([-1, -1]), mx.array([2]) ** -1)
# prints: array([0, 0], dtype=int32) array([0], dtype=int32)
