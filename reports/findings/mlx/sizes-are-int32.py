import mlx.core as mx

try:
    mx.broadcast_to(mx.array([1.0]), (1 << 31,))
except OverflowError as error:
    print(error)
# prints: Integer value 2147483648 is outside the supported range [-2147483648, 2147483647].
