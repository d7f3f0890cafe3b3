"""PyTorch's tensors, warnings and settings as the protocol sees them."""

import ctypes
import dataclasses
import re
import warnings
from contextlib import contextmanager

import torch

from broadcheck_adapter import VALUE_LIMIT, Inexpressible, Reply, classifier, interpreter

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128",
]  # fmt: skip

# Names of dtypes to PyTorch's.
dtypes = {name: getattr(torch, name) for name in DTYPES}

# Texts that are not libtorch's on the processor, with their classes of rejections: those of the front end, those of
# the references, which are meta kernels, too, those of vmap's batching rules, of symbolic sizes and of TorchScript's
# shape functions, and those of other devices.
CLASSES = [
    (r"^\"\w+\" not implemented for '", "dtype"),
    (r"^\w+ out of memory\. Tried to allocate", "impossible-size"),
    (r"^expand\((torch\.(cuda\.)?|Meta|CUDA)\w+\{", "expand"),
    (r"^expand: (the requested shape|attempting to expand)", "expand"),
    (r"has been modified by an inplace operation: \[", "autograd"),
    (r"^Mismatch in shape: grad_output", "not-expandable"),
    (r"^margin_ranking_loss : All input tensors should have same dimension", "size-mismatch"),
    (r"^Target size .* must be the same as input size", "size-mismatch"),
    (r"received an invalid combination of arguments|must be \w+, not |^expected Tensor as element", "argument"),
    (r"is not a valid value for compute_mode$|^div expected rounding_mode", "argument"),
    (r"only supports a 0-dimensional value tensor|^correction argument should be", "argument"),
    (r"^'<' not supported between instances of 'complex'", "argument"),
    (r"^Input shapes should be of type ints|^'<' not supported between instances of 'str'", "argument"),
    (r"^torch\.(allclose|isclose): (rtol|atol) must be greater than or equal to zero", "argument"),
    (r"^cannot convert float (NaN|infinity) to integer", "argument"),
    (r"^more than one element of the written-to tensor refers to a single memory location$", "overlap"),
    (r"^Attempting to broadcast a dimension of length|at non-jagged dimension", "size-mismatch"),
    (r"^-?\d+ must be broadcastable to -?\d+$", "expand"),
    (r"^sum_to_size: size .* is not expandable to size", "not-expandable"),
    (r"^storage_offset must be|^Can't view a storage of size|^len\(size\)=|^stride must be non-negative", "view"),
    (r"^Cannot view a tensor with shape|^invalid shape dimension .* If this was symbolic", "view"),
    (r"^Received an invalid permutation|^Attempting to (permute a tensor of rank|collapse but end)", "dimension"),
    (r"^Index should have dimension 1 or 0", "dimension"),
    (r"^Can't convert a tensor with \d+ elements to a number", "item-count"),
    (r"^(Size does not match at dimension|Expected index) .*torch\.Size", "size-mismatch"),
    (r"^output with shape torch\.Size", "output-shape"),
    (r"^duplicate value in the list of dims|^reducing over zero-size dimension", "dimension"),
    (r"^arg(max|min): Expected reduction dim", "dimension"),
    (r"only tensors with up to 64 dims|cannot compute the inf norm on the dimension|^t_ expects a", "dimension"),
    (r"must have same reduction dim|^size mismatch, got input|^inconsistent tensor size", "product-shape"),
    (r"^[ab] must be 2D$|^matrix @ vector expected|^matmul does not support 0-", "product-shape"),
    (r"^linalg\.cross: inputs dim", "product-shape"),
    (r"^Attempting to cast from|^Expected out tensor to have dtype torch", "dtype"),
    (r"cast to the desired output type torch", "dtype"),
    (r"^dtype argument and out dtype must match|could not infer output dtype|^Promotion of", "dtype"),
    (r"cannot be safely cast to type|^cannot safely convert|not supported for floor_divide$", "dtype"),
    (r"^linalg\.solve: The input tensor must have at least 2 dimensions", "product-shape"),
    (r"^could not convert to type <class|^clamp called but both min and max are none!$", "argument"),
    (r"^linalg\.\w+: .*\btorch\.|^expected dtype torch\.|Integer division with addcdiv is no longer", "dtype"),
    (r"^addmv input tensors must have the same dtype|^Input dtypes must be the same", "dtype"),
    (r"^cdist only supports .* torch\.|^expected scalar type torch\.", "dtype"),
    (r"Attempting to compare tensors of different dtypes|dtype of indices should be int but got", "dtype"),
    (r"^(trunc is not supported|signbit is not implemented) for complex", "dtype"),
    (r"^Mask must be bool|^masked_scatter: .*torch\.|^dot : expected .*torch\.", "dtype"),
    (r"^expected predicate to be bool", "dtype"),
    (r"^(real|imag|abs|angle) must be floating point|doesn't support complex dtypes$", "dtype"),
    (r"^Shape mismatch: Got incorrect dims for|^Got wrong shapes for dot$", "product-shape"),
    (r"^expand: the number of sizes provided", "expand"),
    (r"must match the size of tensor b .* at non-singleton dimension \d+\)$", "size-mismatch"),
    (r"^The shape of the mask torch\.Size", "size-mismatch"),
    (r"^Dimension is out of range", "dimension"),
    (r"^The size of tensor a \d+ must match the size of tensor b \(\d+\)", "size-mismatch"),
    (r"^The dims of tensor b \(\d+\) must be less than or equal to the dims of tensor a", "output-shape"),
    (r"^bmm only supports 3D|^mismatching (batch|contracting) dim|^both  arguments to matmul", "product-shape"),
    (r"^invalid shape( dimensions)?$", "view"),
    (r"can access memory outside of `tensor`|size and stride must have the same length", "view"),
    (r"^torch\.meshgrid: Expected 0D or 1D tensor", "dimension"),
    (r"^masked_fill only supports boolean masks|^masked_scatter_: expected self and source to have same", "dtype"),
    (r"^expected mat1 and mat2 to have the same dtype|^Index put requires the source and destination dtypes", "dtype"),
    (r"^Index is supposed to be an empty tensor or a vector", "dimension"),
    (r"^Tensor with dtype torch\.\w+ is not the expected dtype|^gather\(\): Expected dtype .* got torch", "dtype"),
]

# Where a warning comes from, which is no part of its text: a line of libtorch, or the calls in Python on the way to it.
PLACE = re.compile(r" \(Triggered internally at .*?\)$| Traceback of forward call that caused the error:.*", re.S)


def make(dtype, shape, data, requires_grad):
    """A tensor of those bytes, whose storage can be resized as that of any other."""
    tensor = torch.empty(shape, dtype=dtypes[dtype])
    if data:
        ctypes.memmove(tensor.data_ptr(), data, len(data))
    return tensor.requires_grad_() if requires_grad else tensor


def make_meta(dtype, shape, _data, requires_grad):
    """A tensor without elements."""
    return torch.empty(shape, dtype=dtypes[dtype], device="meta", requires_grad=requires_grad)


def elements(tensor):
    """The bytes in row-major order, of the elements, not of the memory, where a view is conjugated or negated."""
    if tensor.is_meta or tensor.numel() * tensor.element_size() > VALUE_LIMIT:
        return b""
    whole = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if whole.dtype == torch.bool and not whole.is_cpu:
        # Memory of a device that nothing has written, as that of an out= that is resized and then rejected, has any bytes.
        whole = whole.view(torch.uint8).ne(0)
    whole = whole.cpu()
    return ctypes.string_at(whole.data_ptr(), whole.numel() * whole.element_size())


def read(tensor):
    for dim, size in enumerate(tensor.shape):
        if size < 0:
            raise Inexpressible(f"size {size} in dimension {dim} is negative")
    dtype = str(tensor.dtype).removeprefix("torch.")
    storage = tensor.untyped_storage()
    key = (storage._cdata, tensor.storage_offset())
    return Reply(dtype, list(tensor.shape), elements(tensor), list(tensor.stride()), key)


def facts(tensor):
    """All but the elements, which a call of numbers alone has on the meta device, too."""
    return dataclasses.replace(read(tensor), data=b"")


@contextmanager
def warned():
    """A list that has the text and the category of each warning when this ends."""
    texts = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield texts
        finally:
            texts += [(PLACE.sub("", str(each.message)), each.category.__name__) for each in caught]


# The class of an exception of the front end, by its type.
classify = classifier(CLASSES, lambda error, _op: str(error))


def start():
    """One thread, so that sums have one order, and every warning each time."""
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.set_warn_always(True)


def version():
    """The release, without what is said of the build."""
    return torch.__version__.split("+")[0]


def build():
    """Returns everything but the release that can change results."""
    lines = [line.strip().removeprefix("- ") for line in torch.__config__.show().splitlines()[1:]]
    parts = [line for line in lines if line and not line.startswith("Build settings")]
    parts.append(f"torch {torch.__version__}, commit {torch.version.git_version}")
    parts.append(interpreter())
    return "; ".join(parts)


def is_tensor(value):
    return isinstance(value, torch.Tensor)
