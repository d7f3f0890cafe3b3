import paddle

x = paddle.to_tensor([1.0, float("nan")])
print(paddle.argmax(x).item(), paddle.amax(x).item())
# prints: 0 nan
