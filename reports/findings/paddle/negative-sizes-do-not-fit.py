import paddle

try:
    paddle.expand(paddle.to_tensor(1.0), [-3])
except ValueError as error:
    print("for non-existing dimensions must be positive" in str(error))
# prints: True
