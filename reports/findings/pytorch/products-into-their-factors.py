import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
print(torch.mm(x, torch.ones(2, 2), out=x).tolist())
# prints: [[0.0, 0.0], [0.0, 0.0]]
