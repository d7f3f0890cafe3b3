import paddle

print(paddle.sum(paddle.ones([3], dtype="int8")).dtype, paddle.mean(paddle.to_tensor([1, 2])).item())
# prints: paddle.int8 1
