import torch

x = torch.full([65], 0.1 + 0.3j, dtype=torch.complex128)
print((x * torch.full([65], 0.3 + 0.1j, dtype=torch.complex128))[::64].real)
# prints: tensor([0.0000e+00, 1.6653e-18], dtype=torch.float64)
