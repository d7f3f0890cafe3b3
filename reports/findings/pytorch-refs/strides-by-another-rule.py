import torch
import torch._refs as refs

x = torch.ones(2, 3).t()
print(refs.pow(2, x).stride(), torch.pow(2, x).stride())
# prints: (1, 3) (2, 1)
