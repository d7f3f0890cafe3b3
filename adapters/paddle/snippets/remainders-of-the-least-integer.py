import paddle

print(paddle.floor_divide(paddle.to_tensor([-1]), paddle.to_tensor([-(2**63)])).numpy())
# prints: [0]
