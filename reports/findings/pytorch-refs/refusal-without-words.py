import torch
import torch._refs as refs

try:
    refs.expand(torch.ones(()), [-2])
except Exception as error:
    print(str(error).splitlines()[0])
# prints: Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to PyTorch.)
