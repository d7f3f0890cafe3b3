import torch
import torch._refs as refs

x = torch.ones(2, dtype=torch.int64)
try:
    refs.addcmul(x, x, x, value=1.5)
except Exception as error:
    print(str(error).splitlines()[0])
# prints: value argument of type <class 'float'> cannot be safely cast to type <class 'int'>!
