import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


def add(a, out):
    return torch.add(a, a, alpha=0.5, out=out)


for function in (add, compiled(add)):
    out = torch.zeros(3, dtype=torch.int64)
    try:
        function(torch.ones(2, dtype=torch.int64), out)
    except Exception:
        print(out.shape, end=" ")
# prints: torch.Size([2]) torch.Size([3])
