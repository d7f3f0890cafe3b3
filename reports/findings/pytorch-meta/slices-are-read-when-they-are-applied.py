import torch

try:
    torch.ones(2, 2, device="meta")[9, ::0]
except Exception as error:
    print(str(error).splitlines()[0])
# prints: index 9 is out of bounds for dimension 0 with size 2
