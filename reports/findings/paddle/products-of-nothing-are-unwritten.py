import os
import sys

# Memory that nobody has written to is filled with this byte.
if os.environ.get("MALLOC_PERTURB_") != "165":
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "MALLOC_PERTURB_": "165"})

import paddle

x, y = paddle.ones([1, 2, 0]), paddle.ones([1, 0, 2])
print(paddle.matmul(x, y).abs().sum().item() == 0, paddle.bmm(x, y).abs().sum().item() == 0)
# prints: True False
