import torch
import torch._refs as refs

try:
    refs.take_along_dim(torch.ones(2, 3), torch.tensor([4]))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: torch.take_along_dim(): input and indices should have the same number of dimensions, but got 2 dimensions for input, and 1 dimensions for indices
