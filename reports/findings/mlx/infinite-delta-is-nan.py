import mlx.core as mx

from mlx.nn.losses import huber_loss

print(abs(huber_loss(mx.array([1.0]), mx.array([3.0]), delta=float("inf")).item()))
# prints: nan
