import torch

out = torch.tensor([7, 7])
try:
    torch.mean(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0, out=out)
except RuntimeError:
    print(out)
# prints: tensor([4, 6])
