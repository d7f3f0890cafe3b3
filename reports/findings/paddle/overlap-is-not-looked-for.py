import paddle

x = paddle.to_tensor([[1, 2], [3, 4]])
x.add_(paddle.transpose(x, [1, 0]))
print(x.numpy().tolist())
# prints: [[2, 5], [5, 8]]
