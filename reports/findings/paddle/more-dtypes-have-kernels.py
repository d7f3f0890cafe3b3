import paddle

print(paddle.gcd(paddle.to_tensor([2.0]), paddle.to_tensor([4.0])).numpy())
# prints: [2.]
