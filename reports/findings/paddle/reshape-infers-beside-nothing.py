import paddle

print(paddle.reshape(paddle.ones([3, 0]), [-1, 0]).shape)
# prints: paddle.Size([3, 0])
