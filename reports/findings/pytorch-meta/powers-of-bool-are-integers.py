import torch

x = torch.ones(2, dtype=torch.bool)
print(torch.pow(x.to("meta"), True).dtype, torch.pow(x, True).dtype)
# prints: torch.int64 torch.bool
