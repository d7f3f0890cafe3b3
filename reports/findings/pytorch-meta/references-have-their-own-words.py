import torch

try:
    torch.add(torch.empty(2, device="meta"), torch.empty(3, device="meta"))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: Attempting to broadcast a dimension of length 3 at -1! Mismatching argument at index 1 had torch.Size([3]); but expected shape should be broadcastable to [2]
