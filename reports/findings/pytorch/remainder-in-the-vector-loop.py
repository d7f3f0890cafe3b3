import torch

x = torch.ones(65)
print(torch.fmod(x, x * 1e-45)[::64])
# prints: tensor([nan, 0.])
