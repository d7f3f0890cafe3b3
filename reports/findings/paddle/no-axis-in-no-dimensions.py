import paddle

try:
    paddle.index_select(paddle.to_tensor(1.0), paddle.to_tensor([0]), 0)
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: (OutOfRange) Attr(dim) is out of range, It's expected to be in range of [-0, -1]. But received Attr(dim) = 0.
