import torch
import torch._refs as refs

x = torch.ones(2, 3)
print(refs.sum_to_size(x, [3]).shape, x.sum_to_size([3]).shape)
# prints: torch.Size([1, 3]) torch.Size([3])
