import paddle

try:
    paddle.broadcast_tensors([paddle.ones([1]), paddle.ones([1], dtype="int64")])
except Exception as error:
    print(str(error).strip().splitlines()[0].split(". ")[0])
# prints: (InvalidArgument) The data_type of input tensor in list isn't consistent, the first tensor is float32, but 1th tensor is int64
