import torch

print(torch.addmv(torch.ones(1), torch.ones(3, 0), torch.ones(0)).shape)
# prints: torch.Size([1])
