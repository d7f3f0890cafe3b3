import torch
import torch._refs as refs

try:
    refs.fill_(torch.ones(3), torch.tensor(2.0))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: prims::fill() Expected a value of type 'number' for argument 'value' but instead found type 'Tensor'.
