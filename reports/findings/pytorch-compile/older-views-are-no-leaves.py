import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


x, z = torch.tensor(3.0, requires_grad=True), torch.ones(2, 2)
row, column = z[0], z[:, 1]
row.mul_(x)
multiply = lambda a, b: a.mul_(b)
try:
    multiply(column, x)
except RuntimeError as error:
    print(error)
print(compiled(multiply)(column, x).tolist())
# prints: a leaf Variable that requires grad is being used in an in-place operation.
# [9.0, 3.0]
