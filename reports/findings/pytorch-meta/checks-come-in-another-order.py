import torch

try:
    torch.sub(torch.ones(2, dtype=torch.bool, device="meta"), torch.ones(3, dtype=torch.bool, device="meta"))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: Attempting to broadcast a dimension of length 3 at -1! Mismatching argument at index 1 had torch.Size([3]); but expected shape should be broadcastable to [2]
