import torch

x = torch.zeros(65)
x[0] = -0.0
print(torch.amax(x[:2]), torch.amax(x))
# prints: tensor(-0.) tensor(0.)
