import torch
import torch._refs as refs

print(refs.squeeze(torch.ones(1, 3, 1), [0, 0]).shape)
# prints: torch.Size([3, 1])
