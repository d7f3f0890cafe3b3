import torch
import torch._refs as refs

try:
    refs.fmod(2, torch.ones(2))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: fmod: Received a lhs Python scalar to an elementwise binary operation that does not accept lhs scalars!
