import mlx.core as mx

print(mx.var(mx.array([1.0, 2.0])))
# prints: array(0.25, dtype=float32)
