import paddle

x = paddle.to_tensor([[100000]], dtype="int32")
print(paddle.matmul(x, x).item())
# prints: -2147483648
