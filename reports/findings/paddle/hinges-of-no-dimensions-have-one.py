import paddle
import paddle.nn.functional as F

x, label = paddle.to_tensor(0.5), paddle.to_tensor(1.0)
print(F.hinge_embedding_loss(x, label, reduction="none").shape, F.l1_loss(x, label, reduction="none").shape)
# prints: paddle.Size([1]) paddle.Size([])
