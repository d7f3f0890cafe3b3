import paddle

try:
    paddle.where(paddle.to_tensor([1, 0], dtype="uint8"), paddle.ones([2]), paddle.zeros([2]))
except Exception as error:
    print(str(error).strip().splitlines()[0].split(" (at ")[0])
# prints: The `condition` is expected to be a boolean Tensor, but got a Tensor with dtype paddle.uint8
