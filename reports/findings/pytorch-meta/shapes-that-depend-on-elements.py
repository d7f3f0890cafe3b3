import torch

try:
    torch.empty(2, device="meta")[torch.empty(2, dtype=torch.bool, device="meta")]
except Exception as error:
    print(str(error).splitlines()[0])
# prints: The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent implementation does not exist. This implementation returns a fake value, assuming all elements of the tensor are non-zero. To enable this registration, please set 'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' to True.
