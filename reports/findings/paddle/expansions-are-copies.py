import paddle

x = paddle.to_tensor([1, 2])
wide = paddle.expand(x, [2, 2])
x.add_(paddle.to_tensor([10, 10]))
print(x.numpy().tolist(), wide.numpy().tolist())
# prints: [11, 12] [[1, 2], [1, 2]]
