import paddle

x, y = paddle.zeros([1]), -paddle.zeros([1])
print(paddle.maximum(x, y).numpy(), paddle.maximum(y, x).numpy())
# prints: [0.] [0.]
