import paddle

try:
    paddle.nn.functional.smooth_l1_loss(paddle.ones([2, 1]), paddle.ones([2]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(". ")[0])
# prints: (InvalidArgument) Input(input) rank and Input(label) rank should be same, but received input rank(2) != label rank(1)
