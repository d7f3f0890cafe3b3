import logging

import torch

logging.disable(logging.CRITICAL)


def compiled(function):
    return torch.compile(function, backend="aot_eager", dynamic=False)


x, y = torch.ones(2, 3, 0), torch.ones(2, 0, 3, dtype=torch.int16)
print(torch.bmm(x, y).shape)
try:
    compiled(torch.bmm)(x, y)
except Exception as error:
    print("expected scalar type torch.float32 but found torch.int16" in str(error))
# prints: torch.Size([2, 3, 3])
# True
