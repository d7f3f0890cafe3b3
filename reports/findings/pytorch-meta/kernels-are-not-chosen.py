import torch

x = torch.ones(2, device="meta")
print(torch.gcd(x, x).dtype)
# prints: torch.float32
