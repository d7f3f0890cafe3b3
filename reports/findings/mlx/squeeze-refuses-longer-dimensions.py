import mlx.core as mx

try:
    mx.squeeze(mx.ones((1, 3)), axis=1)
except ValueError as error:
    print(error)
# prints: [squeeze] Cannot squeeze axis 1 with size 3 which is not equal to 1.
