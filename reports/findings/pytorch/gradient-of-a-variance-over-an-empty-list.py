import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
torch.var(x, dim=[]).backward()
print(x.grad)
# prints: tensor([-inf, inf])
