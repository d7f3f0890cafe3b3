import paddle

x = paddle.zeros([4], dtype="int64")
paddle.bitwise_and(paddle.ones([2], dtype="int64"), paddle.ones([2], dtype="int64"), out=x)
print(x.shape)
# prints: paddle.Size([4])
