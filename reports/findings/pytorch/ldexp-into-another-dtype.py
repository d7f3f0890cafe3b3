import torch

try:
    torch.ldexp(torch.ones(2), torch.tensor([2, 3]), out=torch.zeros(2, dtype=torch.float64))
except RuntimeError as error:
    print("INTERNAL ASSERT FAILED" in str(error))
# prints: True
