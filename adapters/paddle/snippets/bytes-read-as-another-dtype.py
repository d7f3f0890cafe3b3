import paddle

x = paddle.to_tensor([6.0, 8.0], dtype="float64")
try:
    x.floor_divide_(paddle.to_tensor([3, 0]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
print(x.numpy())
# prints: (InvalidType) Type promotion only support calculations between floating-point numbers and between complex and real numbers. But got different data type x: float64, y: int64.
#         [6. 8.]
