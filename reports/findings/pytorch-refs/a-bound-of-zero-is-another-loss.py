import warnings

import torch
import torch._refs.nn.functional as refs

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    refs.smooth_l1_loss(torch.ones(2, 2), torch.ones(2, 1), beta=0.0)
print(caught[0].message)
# prints: Using a target size (torch.Size([2, 1])) that is different to the input size (torch.Size([2, 2])). This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.
