import torch

try:
    torch.var(torch.ones(2, dtype=torch.float16), out=torch.empty((), dtype=torch.float32))
except Exception as error:
    print(str(error).splitlines()[0])
# prints: std_var_all: Unsupported dtype Half
