import warnings

import torch

x, out = torch.empty(2, device="meta"), torch.empty(3, device="meta")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.add(x, x, out=out)
print(caught[0].message)
# prints: An output with one or more elements was resized since it had shape torch.Size([3]) which does not match the required output shape {str(shape)}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).
