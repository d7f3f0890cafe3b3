import torch
import torch._refs as refs

print(torch.broadcast_shapes())
try:
    refs.broadcast_shapes()
except Exception as error:
    print(str(error).splitlines()[0])
# prints: torch.Size([])
# 'NoneType' object is not iterable
