import torch

x = torch.ones(1, 1).expand(2**62, 1)
print(x[2:].shape[0] - (2**62 - 2))
# prints: 0
