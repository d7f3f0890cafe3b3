import mlx.core as mx

print(mx.floor_divide(mx.array([True]), mx.array([True])), mx.array([1j]) < mx.array([2j]), mx.mean(mx.array([1, 2])))
# prints: array([True], dtype=bool) array([True], dtype=bool) array(1.5, dtype=float32)
