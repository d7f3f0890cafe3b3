import torch

x = torch.tensor([1.0, 2.0])
print(torch.mv(torch.ones(2, 2), x, out=x))
# prints: tensor([0., 0.])
