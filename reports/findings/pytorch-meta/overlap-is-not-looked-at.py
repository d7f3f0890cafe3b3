import torch

x = torch.ones(1, device="meta").expand(3)
print(x.add_(1).shape)
# prints: torch.Size([3])
