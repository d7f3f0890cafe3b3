import mlx.core as mx

try:
    mx.argmax(mx.zeros((0, 2)), axis=1)
except ValueError as error:
    print(error)
# prints: [argmax] Cannot argmax reduce zero size array.
