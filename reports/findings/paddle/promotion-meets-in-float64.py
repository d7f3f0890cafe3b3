import paddle

print(paddle.maximum(paddle.ones([1], dtype="float32"), paddle.ones([], dtype="float64")).dtype)
# prints: paddle.float64
