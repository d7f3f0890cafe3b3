import torch

try:
    torch.ones(2, device="meta")[torch.ones(2, dtype=torch.uint8, device="meta")]
except Exception as error:
    print(str(error).splitlines()[0])
# prints: tensors used as indices must be long, int, byte or bool tensors
