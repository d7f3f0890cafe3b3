import paddle

try:
    paddle.addmm(paddle.to_tensor(1.0), paddle.ones([2, 3]), paddle.ones([3, 4]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: The dimension of input should be 2 or 1 but receive input's shape: paddle.Size([])
