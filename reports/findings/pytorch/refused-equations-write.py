import torch

out = torch.tensor([7.0])
try:
    torch.linalg.solve(torch.zeros(1, 1), torch.ones(1), out=out)
except RuntimeError:
    print(out)
# prints: tensor([inf])
