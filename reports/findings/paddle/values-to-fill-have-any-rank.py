import paddle

print(paddle.masked_fill(paddle.ones([2]), paddle.to_tensor([True, False]), paddle.to_tensor([5.0, 6.0])).numpy().tolist())
# prints: [5.0, 1.0]
