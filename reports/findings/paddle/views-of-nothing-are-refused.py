import paddle

nothing = paddle.ones([0, 2])
print(paddle.reshape(nothing, [0, 2]).shape)
try:
    paddle.view(nothing, [0, 2])
except RuntimeError as error:
    print("cannot reshape tensor of 0 elements" in str(error))
# prints: paddle.Size([0, 2])
# prints: True
