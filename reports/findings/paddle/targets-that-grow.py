import paddle

x = paddle.ones([3])
x.masked_fill_(paddle.to_tensor([[True], [False]]), 0.0)
print(x.shape)
# prints: paddle.Size([2, 3])
