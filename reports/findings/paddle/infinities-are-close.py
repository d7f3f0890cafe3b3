import paddle

print(paddle.allclose(paddle.to_tensor([float("inf")]), paddle.to_tensor([-float("inf")])).item())
# prints: True
