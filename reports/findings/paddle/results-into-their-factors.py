import paddle

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
paddle.matmul(x, paddle.ones([2, 2]), out=x)
print(x.numpy())
# prints: [[0. 0.]
#          [0. 0.]]
