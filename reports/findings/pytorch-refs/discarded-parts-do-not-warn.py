import warnings

import torch
import torch._refs as refs

x = torch.ones(2, dtype=torch.complex64)
for function in (torch.eq, refs.eq):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.set_warn_always(True)
        function(x, x, out=torch.zeros(2))
    print(len(caught), end=" ")
# prints: 1 0
