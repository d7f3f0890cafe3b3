import torch
import torch._refs as refs

x = torch.ones(3, dtype=torch.float64) * 0.1
print(refs.add(-x * x, x, alpha=0.1)[0].item(), torch.add(-x * x, x, alpha=0.1)[0].item())
# prints: 0.0 -8.326672684688674e-19
