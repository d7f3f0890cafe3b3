import torch
import torch._refs as refs

print(refs.add(torch.ones(2, dtype=torch.int8), torch.ones(2, dtype=torch.int8), alpha=128))
# prints: tensor([-127, -127], dtype=torch.int8)
