import torch

x = torch.ones(2, dtype=torch.int64, device="meta")
print(torch.floor_divide(x, torch.zeros_like(x)).shape)
# prints: torch.Size([2])
