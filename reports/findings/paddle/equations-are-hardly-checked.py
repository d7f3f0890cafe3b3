import paddle

print(paddle.einsum("i->ii", paddle.ones([2])).numpy())
# prints: [[1. 0.]
#          [0. 1.]]
