import torch
import torch._refs as refs

x = torch.ones(1).expand([1] * 65)
print(torch.squeeze(x).shape)
try:
    refs.squeeze(x)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: torch.Size([])
# only tensors with up to 64 dims are supported
