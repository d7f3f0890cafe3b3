import paddle

print(paddle.masked_fill(paddle.to_tensor([1, 2], dtype="uint8"), paddle.to_tensor([True, False]), 256).numpy())
# prints: [0 2]
