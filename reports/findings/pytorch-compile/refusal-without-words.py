import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


try:
    compiled(lambda a: a.expand(-2))(torch.ones(()))
except Exception as error:
    print("Expected cond to be True" in str(error))
# prints: True
