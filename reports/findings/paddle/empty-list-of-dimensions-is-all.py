import paddle

print(paddle.all(paddle.ones([2, 3]), []).shape)
# prints: paddle.Size([])
