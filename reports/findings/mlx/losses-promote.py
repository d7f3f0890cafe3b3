import mlx.core as mx

from mlx.nn.losses import huber_loss

print(huber_loss(mx.array([1], mx.uint8), mx.array([3.5]), delta=-1.0))
# prints: array([-3], dtype=float32)
