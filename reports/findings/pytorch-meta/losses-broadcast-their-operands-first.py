import torch
import torch.nn.functional as F

try:
    F.huber_loss(torch.empty(2, device="meta"), torch.empty(3, device="meta"), delta=-1.0)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0
