import os
import sys

# Memory that nobody has written to is filled with this byte.
if os.environ.get("MALLOC_PERTURB_") != "165":
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "MALLOC_PERTURB_": "165"})

import paddle

x, y = paddle.full([1], 2.0), paddle.full([1000], 3.0)
whole = paddle.gammainc(x, y)
print(round(whole[0].item(), 3), bool((whole == whole[0]).all()))
# prints: 0.801 False
