import paddle

try:
    paddle.matmul(paddle.ones([2]), paddle.ones([3], dtype="float64"))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(". ")[0])
# prints: (InvalidArgument) In operator matmul, the [0] dimension of Input(X) must be equal to the [0] dimension of Input(Y)
