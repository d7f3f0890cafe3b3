import paddle

try:
    paddle.cross(paddle.ones([1, 3]), paddle.ones([2, 3]), -1)
except Exception as error:
    print(str(error).strip().splitlines()[0].split(". ")[0])
# prints: (InvalidArgument) The 'shape' of Input(X) should be equal to the 'shape' of Input(Y)
