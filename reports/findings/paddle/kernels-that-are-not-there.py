import paddle

try:
    paddle.einsum("ij->ji", paddle.ones([2, 2], dtype="int64"))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(". ")[0])
# prints: (NotFound) The kernel with key (CPU, Undefined(AnyLayout), int64) of kernel `einsum` is not registered
