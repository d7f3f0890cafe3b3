import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


x = torch.tensor([1.0], requires_grad=True)
for add in (torch.add, compiled(torch.add)):
    y = add(x, 1)
    y.backward()
    try:
        y.backward()
        print("twice", end=" ")
    except RuntimeError:
        print("once", end=" ")
# prints: twice once
