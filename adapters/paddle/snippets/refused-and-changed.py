import paddle

x = paddle.to_tensor([1.0, 2.0])
try:
    x.hypot_(paddle.ones([3, 2]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
print(x.numpy())
# prints: The shape of broadcast output [3, 2] is different from that of inplace tensor paddle.Size([2]) in the Inplace operation.
#         [1. 4.]
