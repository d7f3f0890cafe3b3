import torch

try:
    torch.argmin(torch.empty(0, 2, device="meta"), dim=0)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: argmax: Expected reduction dim 0 to have non-zero size.
