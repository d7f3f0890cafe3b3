import torch

print(torch.nansum(torch.ones(2, 3, device="meta"), dim=[]).shape, torch.nansum(torch.ones(2, 3), dim=[]).shape)
# prints: torch.Size([2, 3]) torch.Size([])
