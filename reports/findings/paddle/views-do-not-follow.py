import paddle

x = paddle.ones([2, 3])
y = x.detach()
x.unsqueeze_(1)
print(y.shape)
# prints: paddle.Size([2, 1, 3])
