import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


try:
    compiled(lambda a: a.view(0, 2**40, 2**40))(torch.ones(0))
except Exception as error:
    print("prims::as_strided() Expected a value of type" in str(error))
# prints: True
