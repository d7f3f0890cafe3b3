import paddle

print(paddle.masked_fill(paddle.ones([2]), paddle.to_tensor([2, 0]), 0.0).numpy())
# prints: [0. 1.]
