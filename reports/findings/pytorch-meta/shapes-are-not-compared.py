import torch

x, i = torch.ones(3, device="meta"), torch.zeros(3, dtype=torch.int64, device="meta")
print(x.index_put_((i,), torch.ones(2, device="meta")).shape)
# prints: torch.Size([3])
