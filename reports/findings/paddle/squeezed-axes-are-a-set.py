import paddle

print(paddle.squeeze(paddle.ones([1, 3]), [0, 0]).shape)
# prints: paddle.Size([3])
