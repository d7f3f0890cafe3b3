import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


def total(a, out):
    return torch.sum(a, dim=0, out=out)


x = torch.tensor([1.5, 3.5])
for function in (total, compiled(total)):
    print(function(x, torch.tensor(0)).item(), end=" ")
# prints: 4 5
