import paddle

print(paddle.expand(paddle.ones([1]), []).shape)
# prints: paddle.Size([1])
