import torch

x = torch.ones(1, 2)
x.addbmm_(torch.ones(1, 2, 1), torch.ones(1, 1, 2))
print(x.shape)
# prints: torch.Size([2, 2])
