import paddle

x = paddle.to_tensor([1.0, 2.0])
try:
    x.hypot_(paddle.ones([3, 2]))
except ValueError:
    print(x.numpy())
# prints: [1. 4.]
