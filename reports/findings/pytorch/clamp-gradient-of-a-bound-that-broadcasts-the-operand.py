import torch

x = torch.tensor([1.5], requires_grad=True)
try:
    torch.clamp(x, torch.tensor(1.0), torch.tensor([2.0, 2.0])).sum().backward()
except Exception as error:
    print(str(error).splitlines()[0])
# prints: output with shape [1] doesn't match the broadcast shape [2]
