import paddle

print(paddle.nn.functional.hinge_embedding_loss(paddle.ones([1]), paddle.to_tensor([2.0])).item())
# prints: 0.0
