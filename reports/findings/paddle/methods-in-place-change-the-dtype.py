import paddle

x = paddle.to_tensor([1, 2])
x.equal_(paddle.to_tensor([1, 3]))
print(x.dtype)
# prints: paddle.bool
