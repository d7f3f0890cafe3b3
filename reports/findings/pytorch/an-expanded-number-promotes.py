import torch
import torch.nn.functional as F

x, t = torch.ones(2), torch.tensor(2.0, dtype=torch.float64)
print(F.mse_loss(x, t).dtype, F.huber_loss(x, t).dtype, (x - t).dtype)
# prints: torch.float64 torch.float32 torch.float32
