import paddle

print(paddle.expand(paddle.ones([1]), [2**40]).shape, paddle.expand(paddle.ones([1]), [2**32 + 3]).shape)
# prints: paddle.Size([0]) paddle.Size([3])
