import torch

x = torch.ones(2, 3)
print(x[torch.tensor(1)].data_ptr() == x[1].data_ptr())
# prints: True
