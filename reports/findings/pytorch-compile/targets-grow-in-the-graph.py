import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


try:
    compiled(lambda a, b: a.eq_(b))(torch.ones(2, 1), torch.ones(2, 2))
except Exception as error:
    print(str(error).splitlines()[1])
# prints: RuntimeError: expand: attempting to expand a dimension of length 2 -> 1!
