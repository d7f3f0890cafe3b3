import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


print(compiled(lambda a, b: a.mul_(b))(torch.tensor([7, 5]), torch.tensor([2.0, 2.0])))
# prints: tensor([14, 10])
