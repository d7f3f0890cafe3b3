import paddle

try:
    paddle.ones([1] * 10) + paddle.ones([1])
except Exception as error:
    print(str(error).strip().splitlines()[0].split(". ")[1])
# prints: Invalid dimension to be accessed
