import torch

i = torch.zeros(1, dtype=torch.int64, device="meta")
try:
    torch.ones(2, device="meta")[i, i]
except Exception as error:
    print(str(error).splitlines()[0])
# prints: too many indices for tensor of dimension 1
