import paddle

print(paddle.broadcast_shapes([-1], [1]), paddle.expand(paddle.ones([1]), [-2]).shape)
# prints: [-1] paddle.Size([0])
