import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


try:
    compiled(lambda a: a.fill_(2.5))(torch.ones(1).expand(3))
except Exception as error:
    print(str(error).splitlines()[1])
# prints: RuntimeError: more than one element of the written-to tensor refers to a single memory location
