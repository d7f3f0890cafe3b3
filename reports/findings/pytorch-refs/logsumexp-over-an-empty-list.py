import torch
import torch._refs as refs

print(refs.logsumexp(torch.ones(1, 1), []).shape, torch.amax(torch.ones(1, 1), dim=[]).shape)
# prints: torch.Size([1, 1]) torch.Size([])
