import warnings

import torch
import torch._refs as refs

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    refs.std(torch.ones(1))
print(str(caught[0].message)[:45])
# prints: var(): degrees of freedom is <= 0. Correction
