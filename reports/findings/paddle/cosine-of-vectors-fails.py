import paddle

try:
    paddle.nn.functional.cosine_similarity(paddle.ones([2]), paddle.ones([2, 2]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: list index out of range
