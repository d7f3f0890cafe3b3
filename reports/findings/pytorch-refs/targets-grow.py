import torch
import torch._refs as refs

x = torch.ones(2, 1)
refs.add_(x, torch.ones(2, 2))
print(x.shape)
# prints: torch.Size([2, 2])
