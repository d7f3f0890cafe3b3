import paddle

x = paddle.ones([2, 2])
x.copy_(paddle.zeros([2]), True)
print(x.shape)
try:
    paddle.ones([2]).copy_(paddle.ones([2], dtype="int64"), True)
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: paddle.Size([2])
#         (PreconditionNotMet) Tensor  has different data type with Tensor , Tensor Copy cannot be performed!
