import paddle

x, y = (paddle.to_tensor([value], dtype="float64") for value in (-1.0, 1 + 2.0**-27))
print(paddle.add(x, y, alpha=1 - 2.0**-27).item())
# prints: 0.0
