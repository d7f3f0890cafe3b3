import torch

print(torch.ones((), device="meta").expand(4, 0, -3).shape)
# prints: torch.Size([4, 0, -3])
