import torch

print(torch.ones(4, device="meta").expand(3, 4))
# prints: tensor(..., device='meta', size=(3, 4))
