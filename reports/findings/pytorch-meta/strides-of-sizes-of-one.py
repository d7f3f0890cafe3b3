import torch

x = torch.ones(2, 3).t()
print(torch.pow(2, x.to("meta")).stride(), torch.pow(2, x).stride())
# prints: (1, 3) (2, 1)
