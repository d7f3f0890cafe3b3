import torch

x = torch.ones(2, 3)
try:
    x.index_put_((None, torch.tensor([0])), torch.tensor(7.0))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: expected Tensor as element 0 in argument 0, but got NoneType
