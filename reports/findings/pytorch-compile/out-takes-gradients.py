import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


x, out = torch.ones(2, 2, requires_grad=True), torch.zeros(2, 2)
print(compiled(lambda a, b: torch.matmul(a, a, out=b))(x, out).tolist())
# prints: [[2.0, 2.0], [2.0, 2.0]]
