import paddle

print(paddle.to_tensor([1, 2, 3])[::-1].numpy())
# prints: [3 2 1]
