import paddle

print(paddle.gcd(paddle.to_tensor([-(2**63)]), paddle.to_tensor([5])).numpy())
# prints: [1]
