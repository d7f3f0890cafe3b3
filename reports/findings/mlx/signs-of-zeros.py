import mlx.core as mx

print(mx.minimum(mx.array([0.0]), mx.array([-0.0])), mx.minimum(mx.array([-0.0]), mx.array([0.0])))
# prints: array([-0], dtype=float32) array([0], dtype=float32)
