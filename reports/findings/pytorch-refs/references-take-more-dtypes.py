import torch
import torch._refs as refs

x = torch.ones(2, dtype=torch.int64)
print(refs.logaddexp(x, x))
# prints: tensor([1, 1])
