import paddle

print(paddle.permute(paddle.ones([2, 3, 4]), [1, 0]).shape)
# prints: paddle.Size([3, 2, 4])
