import paddle

try:
    paddle.ones([2]).fill_(paddle.to_tensor(3.0))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: The type of 'value'  must be int or float, but received <class 'paddle.Tensor'>.
