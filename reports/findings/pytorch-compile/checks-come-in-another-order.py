import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


try:
    compiled(torch.sub)(torch.ones(2, dtype=torch.bool), torch.ones(3, dtype=torch.bool))
except Exception as error:
    print("Attempting to broadcast a dimension of length 3" in str(error))
# prints: True
