# pow returns wrong values.
# libtorch 2.13.0
import torch

torch.set_num_threads(1)
x = torch.tensor([-1.0])
r = torch.pow(x, 16777217.0)
print(r.tolist())
# prints: [-1.0]
# expected: [1.0]
