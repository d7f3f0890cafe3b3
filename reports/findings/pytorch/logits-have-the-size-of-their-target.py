import torch
import torch.nn.functional as F

try:
    F.binary_cross_entropy_with_logits(torch.ones(2, 1), torch.ones(2, 2))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: Target size (torch.Size([2, 2])) must be the same as input size (torch.Size([2, 1]))
