import torch

x = torch.tensor([0.5, 0.0])
print(torch.any(x).item(), torch.any(x, out=torch.empty((), dtype=torch.uint8)).item())
# prints: True 0
