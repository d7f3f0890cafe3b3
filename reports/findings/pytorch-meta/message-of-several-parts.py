import torch

x = torch.ones(2, dtype=torch.int64, device="meta")
try:
    torch.addcdiv(x, x, x)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: ('Integer division with addcdiv is no longer supported, and in a future ', 'release addcdiv will perform a true division of tensor1 and tensor2. ', 'The historic addcdiv behavior can be implemented as ', '(input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) ', 'for integer inputs and as ', '(input + value * tensor1 / tensor2) for float inputs. ', 'The future addcdiv behavior is just the latter implementation: ', '(input + value * tensor1 / tensor2), for all dtypes.')
