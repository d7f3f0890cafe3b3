import paddle

x = paddle.amax(paddle.ones([0, 2]), 0)
print(x.shape)
# prints: paddle.Size([2])
