import paddle

x = paddle.ones([2, 2])
print(paddle.dot(x, x).numpy(), paddle.outer(x, paddle.ones([3])).shape)
# prints: [2. 2.] paddle.Size([4, 3])
