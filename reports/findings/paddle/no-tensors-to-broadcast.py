import paddle

try:
    print(paddle.broadcast_tensors([]))
except Exception as error:
    print("must be list of Tensors, but got empty list" in str(error))
# prints: True
