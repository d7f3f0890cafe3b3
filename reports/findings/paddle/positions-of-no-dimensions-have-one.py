import paddle

x = paddle.to_tensor(3.0)
print(paddle.argmax(x, -1, keepdim=True).shape, paddle.amax(x, -1, keepdim=True).shape)
# prints: paddle.Size([1]) paddle.Size([])
