import paddle

print(paddle.mm(paddle.ones([1, 1]), paddle.ones([1, 1], dtype="float64")).dtype)
# prints: 
