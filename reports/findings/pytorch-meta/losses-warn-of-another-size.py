import warnings

import torch
import torch.nn.functional as F

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    F.mse_loss(torch.empty(2, 1, device="meta"), torch.empty(2, device="meta"))
print(caught[0].message)
# prints: Using a target size (torch.Size([2])) that is different to the input size (torch.Size([2, 1])). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.
