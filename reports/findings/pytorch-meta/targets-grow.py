import torch

x, y = torch.empty(2, 1, device="meta"), torch.empty(2, 2, device="meta")
x.eq_(y)
print(x.shape)
# prints: torch.Size([2, 2])
