import paddle

x = paddle.to_tensor(3.0)
print(paddle.argmax(x, 0).shape, paddle.argmax(x, -1).shape)
# prints: paddle.Size([]) paddle.Size([])
