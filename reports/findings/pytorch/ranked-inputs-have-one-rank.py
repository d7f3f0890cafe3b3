import torch
import torch.nn.functional as F

try:
    F.margin_ranking_loss(torch.ones(2, 1), torch.ones(2), torch.tensor(1.0))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: torch.Size([2, 1]), input2: torch.Size([2]), target: torch.Size([])
