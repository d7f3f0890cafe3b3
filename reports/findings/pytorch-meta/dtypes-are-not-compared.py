import torch

x = torch.ones(2, 2, device="meta")
print(torch.mm(x, x.long()).dtype)
# prints: torch.float32
