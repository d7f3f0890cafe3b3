import paddle

x = paddle.zeros([1], dtype="int64")
paddle.add(paddle.ones([2]), paddle.ones([2]), out=x)
print(x.dtype, x.shape)
# prints: paddle.float32 paddle.Size([2])
