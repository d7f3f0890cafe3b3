import torch
import torch._refs as refs

x = torch.ones(2, dtype=torch.bool)
print(refs.pow(x, True).dtype, torch.pow(x, True).dtype)
# prints: torch.int64 torch.bool
