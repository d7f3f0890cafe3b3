import paddle

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
index = paddle.zeros([2, 1])
print(paddle.take_along_axis(x, index.astype("int64"), 1).numpy().tolist())
print(paddle.take_along_axis(x, index, 1).numpy().tolist() == [[1.0], [3.0]])
# prints: [[1.0], [3.0]]
# prints: False
