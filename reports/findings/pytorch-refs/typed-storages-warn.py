import warnings

import torch
import torch._refs as refs

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    refs.as_strided(torch.ones(4), [2], [3])
print(str(caught[0].message)[:28])
# prints: TypedStorage is deprecated.
