import paddle

try:
    paddle.ones([1] * 10) + paddle.ones([1])
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: Unimplemented error. Invalid dimension to be accessed. Now only supports access to dimension 0 to 9, but received dimension is 10.
