import torch

x = torch.tensor([1.0, 2.0])
try:
    torch.dot(x, torch.ones(2), out=x)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: 1D tensors expected, but got 0D and 1D tensors
