import paddle

try:
    paddle.clip(paddle.ones([2]), paddle.ones([2]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
try:
    paddle.clip(paddle.ones([2]), 5, 2)
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: (InvalidArgument) The Scalar only supports Tensor with 1 element, but now Tensor has `2` elements
#         (InvalidArgument) max should be greater than or equal to min. But received min = 5.000000, max = 2.000000
