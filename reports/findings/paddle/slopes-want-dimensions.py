import paddle

try:
    paddle.nn.functional.prelu(paddle.ones([2, 3]), paddle.ones([2, 3]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: The dim count of weight shape should be 0 or 1 in prelu().
