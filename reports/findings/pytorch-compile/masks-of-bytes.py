import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


try:
    compiled(lambda a, b: a[b])(torch.ones(2), torch.ones(2, dtype=torch.uint8))
except Exception as error:
    print("tensors used as indices must be long, int, byte or bool" in str(error))
# prints: True
