import torch

x = torch.ones(3, requires_grad=True) * 1
try:
    x.backward(torch.ones(2, 3))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: Mismatch in shape: grad_output[0] has a shape of torch.Size([2, 3]) and output[0] has a shape of torch.Size([3]).
