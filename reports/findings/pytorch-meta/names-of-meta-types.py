import torch

try:
    torch.empty(1, 3, device="meta").expand(3)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: expand(MetaFloatType{[1, 3]}, size=[3]): the number of sizes provided (1) must be greater or equal to the number of dimensions in the tensor (2)
