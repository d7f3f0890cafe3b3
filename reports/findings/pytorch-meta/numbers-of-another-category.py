import torch

x = torch.ones(2, device="meta")
try:
    torch.pow(1, x, out=torch.ones(2, dtype=torch.int64, device="meta"))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: Attempting to cast from torch.float32 to out tensor with dtype torch.int64, but this can't be cast because it is not safe!
