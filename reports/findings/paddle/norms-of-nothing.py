import paddle

print(paddle.linalg.vector_norm(paddle.ones([0]), -2.0).item())
# prints: 0.0
