import torch

try:
    torch.logsumexp(torch.ones(1, 1), dim=[])
except Exception as error:
    print(str(error).splitlines()[0])
# prints: output with shape [] doesn't match the broadcast shape [1, 1]
