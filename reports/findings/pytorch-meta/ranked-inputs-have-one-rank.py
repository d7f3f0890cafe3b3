import torch
import torch.nn.functional as F

x = torch.ones(2, 1, device="meta")
try:
    F.margin_ranking_loss(x, torch.ones(2, device="meta"), x)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: torch.Size([2, 1]), input2: torch.Size([2]), target: torch.Size([2, 1])
