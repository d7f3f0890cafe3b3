import torch
import torch._refs as refs

print(refs.broadcast_to(torch.ones(()), [4, 0, -3]).shape)
# prints: torch.Size([4, 0, -3])
