import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


try:
    compiled(torch.special.zeta)(torch.tensor([2.0], requires_grad=True), 1.0)
except Exception as error:
    print(str(error).splitlines()[1])
# prints: NotImplementedError: the derivative for 'zeta' is not implemented.
