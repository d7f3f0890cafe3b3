import torch
import torch.nn.functional as F

x, t = torch.ones(2, device="meta"), torch.ones(2, dtype=torch.float64, device="meta")
print(F.huber_loss(x, t).dtype, F.huber_loss(torch.ones(2), torch.ones(2, dtype=torch.float64)).dtype)
# prints: torch.float64 torch.float32
