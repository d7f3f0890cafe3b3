import paddle

print(paddle.ldexp(paddle.full([1], 2.0**-140), paddle.to_tensor([200])).numpy())
# prints: [inf]
