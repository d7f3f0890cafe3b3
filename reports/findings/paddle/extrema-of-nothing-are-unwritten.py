import paddle

print(paddle.amax(paddle.ones([0, 2]), 0).shape, paddle.argmax(paddle.ones([0, 2]), 0).shape)
# prints: paddle.Size([2]) paddle.Size([2])
