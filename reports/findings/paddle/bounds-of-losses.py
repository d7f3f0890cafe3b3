import paddle

print(paddle.nn.functional.smooth_l1_loss(paddle.ones([1]), paddle.zeros([1]), delta=-1.0).item())
# prints: -1.5
