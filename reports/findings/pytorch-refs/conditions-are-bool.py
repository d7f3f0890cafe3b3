import torch
import torch._refs as refs

try:
    refs.where(torch.ones(2, dtype=torch.uint8), torch.ones(2), torch.zeros(2))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: expected predicate to be bool, got torch.uint8
