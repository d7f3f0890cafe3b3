import torch
import torch._refs.nn.functional as refs

print(refs.huber_loss(torch.ones(2), torch.ones(2, dtype=torch.float64)).dtype)
# prints: torch.float64
