import torch
import torch._refs.nn.functional as refs

x = torch.ones(2, dtype=torch.int16)
print(refs.l1_loss(x, x, reduction="sum").dtype, torch.nn.functional.l1_loss(x, x, reduction="sum").dtype)
# prints: torch.int16 torch.int64
