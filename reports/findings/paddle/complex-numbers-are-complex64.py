import paddle

ones = paddle.ones([1], dtype="complex128")
print((ones * (0.1 + 0.3j)).imag().item() == 0.3, (ones.real() * 0.3).item() == 0.3)
# prints: False True
