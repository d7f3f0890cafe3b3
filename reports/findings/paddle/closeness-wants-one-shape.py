import paddle

try:
    paddle.isclose(paddle.ones([2, 1]), paddle.ones([2]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: (PreconditionNotMet) Input(Input) and Input(Other) must have the same dimension size.
