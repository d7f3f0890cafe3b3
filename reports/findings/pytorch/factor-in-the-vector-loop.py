import torch

x = torch.ones(65, dtype=torch.bfloat16)
print(torch.add(x, x * 9.5, alpha=3.28125)[::64])
# prints: tensor([32.2500, 32.0000], dtype=torch.bfloat16)
