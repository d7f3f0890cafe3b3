import paddle

print(paddle.dot(paddle.ones([2, 2]), paddle.ones([2, 2])).numpy(), paddle.outer(paddle.ones([2, 2]), paddle.ones([3])).shape)
# prints: [2. 2.] paddle.Size([4, 3])
