import torch

print(torch.logsumexp(torch.ones(1, 1, device="meta"), dim=[]).shape, torch.amax(torch.ones(1, 1), dim=[]).shape)
# prints: torch.Size([1, 1]) torch.Size([])
