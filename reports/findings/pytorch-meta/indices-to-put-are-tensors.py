import torch

x = torch.ones(2, 3, device="meta")
try:
    x.index_put_((None, torch.tensor([0], device="meta")), torch.tensor(7.0, device="meta"))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: expected Tensor as element 0 in argument 0, but got NoneType
