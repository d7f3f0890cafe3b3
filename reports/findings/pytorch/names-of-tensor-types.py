import torch

try:
    torch.ones(1, 3).expand(3)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: expand(torch.FloatTensor{[1, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)
