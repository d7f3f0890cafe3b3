import paddle

print(paddle.index_select(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([-1]), 0).numpy())
# prints: [2.]
