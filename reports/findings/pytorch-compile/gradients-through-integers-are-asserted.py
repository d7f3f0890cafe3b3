import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


x = torch.tensor([1, 2])
mask, value = torch.tensor([True, False]), torch.tensor(5.0, requires_grad=True)
try:
    compiled(lambda a, b, c: a.masked_fill_(b, c))(x, mask, value)
except Exception as error:
    print("INTERNAL ASSERT FAILED" in str(error))
# prints: True
