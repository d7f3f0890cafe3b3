import torch

try:
    torch.ones(2)[torch.tensor([0]), torch.tensor([0])]
except Exception as error:
    print(str(error).splitlines()[0])
# prints: too many indices for tensor of dimension 1
