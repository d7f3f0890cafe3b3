import paddle

print(paddle.logsumexp(paddle.to_tensor([float("inf"), 0.0])).item())
# prints: nan
