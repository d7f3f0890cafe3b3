import torch
import torch._refs as refs

x = torch.tensor([6, 8])
try:
    refs.floor_divide_(x, torch.tensor([6, 0]))
except RuntimeError:
    print(x)
# prints: tensor([6, 8])
