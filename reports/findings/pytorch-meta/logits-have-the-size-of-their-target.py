import torch
import torch.nn.functional as F

try:
    F.binary_cross_entropy_with_logits(torch.empty(2, 1, device="meta"), torch.empty(2, 2, device="meta"))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: Target size (torch.Size([2, 2])) must be the same as input size (torch.Size([2, 1]))
