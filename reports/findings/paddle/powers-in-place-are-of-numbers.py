import paddle

try:
    paddle.ones([2]).pow_(paddle.ones([2]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: y must be scalar type, but received: <class 'paddle.Tensor'>
