import paddle

print(paddle.cdist(paddle.ones([2, 0, 3]), paddle.ones([1, 4, 3])).shape)
# prints: paddle.Size([0, 4])
