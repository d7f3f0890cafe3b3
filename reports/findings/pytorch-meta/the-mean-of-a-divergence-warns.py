import warnings

import torch
import torch.nn.functional as F

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    F.kl_div(torch.empty(2, device="meta"), torch.empty(2, device="meta"))
print(caught[0].message)
# prints: reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the next major release.
