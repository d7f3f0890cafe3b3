import paddle

try:
    paddle.add(paddle.ones([1]), paddle.ones([1], dtype="int64"))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(". ")[0])
# prints: (InvalidType) Type promotion only support calculations between floating-point numbers and between complex and real numbers
