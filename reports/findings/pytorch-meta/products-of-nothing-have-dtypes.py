import torch

try:
    torch.bmm(torch.ones(2, 3, 0, device="meta"), torch.ones(2, 0, 3, dtype=torch.int16, device="meta"))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: expected scalar type torch.float32 but found torch.int16
