import torch

x = torch.ones(1, 2, device="meta")
try:
    torch.cdist(x, x, compute_mode=7)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: 7 is not a valid value for compute_mode
