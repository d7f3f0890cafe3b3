import mlx.core as mx

x = mx.array([1, 2])
x += 0.5
print(x.dtype)
try:
    x = mx.array([1, 2])
    x /= 2
except ValueError as error:
    print(error)
# prints: mlx.core.float32
# prints: In place division cannot cast to non-floating point type.
