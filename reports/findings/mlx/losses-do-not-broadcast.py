import mlx.core as mx

from mlx.nn.losses import mse_loss

try:
    mse_loss(mx.zeros((2, 1)), mx.zeros((2,)))
except ValueError as error:
    print(error)
# prints: Predictions shape (2, 1) does not match targets shape (2,).
