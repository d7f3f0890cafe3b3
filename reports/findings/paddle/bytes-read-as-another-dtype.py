import paddle

x = paddle.to_tensor([6.0, 8.0], dtype="float64")
try:
    paddle.floor_divide(paddle.to_tensor([9, 9]), paddle.to_tensor([4, 0]), out=x)
except Exception as error:
    print(str(error).strip().splitlines()[0].split(". ")[0])
print(x.numpy())
# prints: () InvalidArgumentError: Integer division by zero encountered in (floor/trunc) divide
#         [                  2 4620693217682128896]
