import torch
import torch._refs as refs

x = torch.ones(1, dtype=torch.int64)
try:
    refs.add_(x, torch.ones(3))
except RuntimeError:
    print(x.shape)
# prints: torch.Size([3])
