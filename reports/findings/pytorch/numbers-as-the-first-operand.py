import torch

try:
    torch.rsub(2, torch.ones(2))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: rsub() received an invalid combination of arguments - got (int, Tensor), but expected one of:
