import torch

print(torch.ones(1, device="meta").expand(2**46).clone().shape)
# prints: torch.Size([70368744177664])
