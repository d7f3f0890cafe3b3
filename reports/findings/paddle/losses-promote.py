import paddle
import paddle.nn.functional as F

x, label = paddle.zeros([2], dtype="float32"), paddle.ones([2], dtype="float64")
print(F.smooth_l1_loss(x, label, reduction="none").dtype)
# prints: paddle.float64
