import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


try:
    compiled(lambda a, out: torch.pow(1, a, out=out))(torch.ones(2), torch.ones(2, dtype=torch.int64))
except Exception as error:
    print("Attempting to cast from torch.float32 to out tensor with dtype torch.int64" in str(error))
# prints: True
