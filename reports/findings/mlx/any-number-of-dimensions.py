import mlx.core as mx

print(mx.sum(mx.ones((1,) * 65)))
# prints: array(1, dtype=float32)
