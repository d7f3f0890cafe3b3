import torch
import torch.nn.functional as F

try:
    F.huber_loss(torch.ones(2), torch.ones(3), delta=-1.0)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0
