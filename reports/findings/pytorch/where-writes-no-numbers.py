import torch

x = torch.ones(2)
try:
    torch.where(x > 0, x, 2, out=x)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: where(): argument 'other' (position 3) must be Tensor, not int
