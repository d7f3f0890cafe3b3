"""The operation table, as far as `mindspore.ops` has it. Its functions return new tensors: there is nothing in place and no
`out=`.

An operation is a function of `mindspore.ops` and nothing made of several. Numbers stay Python's.
"""

import operator
import re

import mindspore as ms
import numpy as np
from mindspore import ops

from broadcheck_adapter import VALUE_LIMIT, Library, Rejection, Reply, array_api, arrays, classifier, interpreter
from broadcheck_adapter.numpy_like import axes, closeness
from broadcheck_adapter.operation import lacking_arguments, of_two

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

BINARY = {
    "add": ops.add,
    "sub": ops.sub,
    "mul": ops.mul,
    "floor_divide": ops.floor_divide,
    "remainder": ops.remainder,
    "fmod": ops.fmod,
    "pow": ops.pow,
    "float_power": ops.float_power,
    "maximum": ops.maximum,
    "minimum": ops.minimum,
    "fmax": ops.fmax,
    "fmin": ops.fmin,
    "atan2": ops.atan2,
    "hypot": ops.hypot,
    "nextafter": ops.nextafter,
    "copysign": ops.copysign,
    "heaviside": ops.heaviside,
    "ldexp": ops.ldexp,
    "logaddexp": ops.logaddexp,
    "logaddexp2": ops.logaddexp2,
    "gcd": ops.gcd,
    "lcm": ops.lcm,
    "xlogy": ops.xlogy,
    "igamma": ops.igamma,
    "igammac": ops.igammac,
    "special_zeta": ops.zeta,
    "eq": ops.equal,
    "ne": ops.ne,
    "lt": ops.less,
    "le": ops.le,
    "gt": ops.gt,
    "ge": ops.ge,
    "logical_and": ops.logical_and,
    "logical_or": ops.logical_or,
    "logical_xor": ops.logical_xor,
    "bitwise_and": ops.bitwise_and,
    "bitwise_or": ops.bitwise_or,
    "bitwise_xor": ops.bitwise_xor,
    "bitwise_left_shift": ops.bitwise_left_shift,
    "bitwise_right_shift": ops.bitwise_right_shift,
}


def fold(function, keepdims="keepdims"):
    """A reduction whose parameter for the dimensions is its second."""

    def call(tensor, dim, keepdim, dtype=None):
        typed = {} if dtype is None else {"dtype": getattr(ms, dtype)}
        return function(tensor, axes(dim), **{keepdims: keepdim}, **typed)

    return call


def spread(function):
    return lambda tensor, dim, given, keepdim, _unbiased: function(tensor, axes(dim), given or 0, keepdim)


# `any` is left out: for floats its elements are bytes of uninitialized memory, which no bool of the protocol can be.
OPERATIONS = {
    **{name: of_two(function) for name, function in BINARY.items()},
    "div": lambda left, right, mode: ops.div(left, right, rounding_mode=mode),
    "lerp": ops.lerp,
    "where": ops.where,
    "clamp": ops.clamp,
    "isclose": closeness(ops.isclose),
    "addcmul": lambda tensor, left, right, value: ops.addcmul(tensor, left, right, value=value),
    "addcdiv": lambda tensor, left, right, value: ops.addcdiv(tensor, left, right, value=value),
    "expand": lambda tensor, size: ops.broadcast_to(tensor, tuple(size)),
    "broadcast_to": lambda tensor, size: ops.broadcast_to(tensor, tuple(size)),
    "unsqueeze": ops.unsqueeze,
    "squeeze": lambda tensor, dim: ops.squeeze(tensor, axes(dim)),
    "permute": lambda tensor, dims: ops.permute(tensor, tuple(dims)),
    "transpose": ops.swapaxes,
    "swapaxes": ops.swapaxes,
    "movedim": lambda tensor, source, target: ops.movedim(tensor, axes(source), axes(target)),
    "reshape": lambda tensor, size: ops.reshape(tensor, tuple(size)),
    "flatten": lambda tensor, start, end: ops.flatten(tensor, start_dim=start, end_dim=end),
    "index": operator.getitem,
    "index_select": ops.index_select,
    "masked_select": ops.masked_select,
    "masked_fill": ops.masked_fill,
    "clone": lambda tensor: tensor.copy(),
    "item": lambda tensor: tensor.item(),
    "matmul": ops.matmul,
    "mm": ops.mm,
    "mv": ops.mv,
    "bmm": ops.bmm,
    "outer": ops.outer,
    "inner": ops.inner,
    "kron": ops.kron,
    "tensordot": lambda left, right, *dims: ops.tensor_dot(left, right, tuple(map(tuple, dims))),
    "linalg_cross": ops.cross,
    "addmm": lambda tensor, left, right, beta, alpha: ops.addmm(tensor, left, right, beta=beta, alpha=alpha),
    "baddbmm": lambda tensor, left, right, beta, alpha: ops.baddbmm(tensor, left, right, beta=beta, alpha=alpha),
    "addmv": lambda tensor, left, right, beta, alpha: ops.addmv(tensor, left, right, beta=beta, alpha=alpha),
    "sum": fold(ops.sum, "keepdim"),
    "nansum": fold(ops.nansum),
    "mean": fold(ops.mean, "keep_dims"),
    "prod": fold(ops.prod, "keep_dims"),
    "amax": fold(ops.amax),
    "amin": fold(ops.amin),
    "all": fold(ops.all, "keep_dims"),
    "argmax": fold(ops.argmax, "keepdim"),
    "argmin": fold(ops.argmin),
    "logsumexp": fold(ops.logsumexp, "keepdim"),
    "var": spread(ops.var),
    "std": spread(ops.std),
    "mse_loss": ops.mse_loss,
    "l1_loss": ops.l1_loss,
    "huber_loss": ops.huber_loss,
}

ARGUMENTS = {
    ("mean", "dtype"): "MindSpore's mean has no dtype",
} | array_api.usual_arguments("MindSpore's", OPERATIONS)
ARGUMENTS = {key: why for key, why in ARGUMENTS.items() if key != ("div", "rounding_mode")}

CLASSES = [
    (r"too (big|large)|[Mm]emory|[Aa]lloc|overflow|exceed", "impossible-size"),
    (r"^(expand|broadcast_to): ", "expand"),
    (r"[Tt]ype|dtype", "dtype"),
    (r"^(matmul|mm|mv|bmm|outer|inner|kron|tensordot|addmm|baddbmm|addmv|linalg_\w+): ", "product-shape"),
    (r"^reshape: ", "view"),
    (r"broadcast|[Ss]hape", "size-mismatch"),
    (r"out of (range|bounds)|in (the )?range|must be in|[Aa]xis|axes|dim", "dimension"),
    (r"zero", "zero-division"),
]


def make(dtype, shape, data, _requires_grad=False):
    return ms.Tensor(arrays.make(dtype, shape, data))


def read(tensor):
    dtype = str(tensor.dtype).lower().replace("bool_", "bool")
    size = np.prod([float(size) for size in tensor.shape])
    small = 0 < size * tensor.itemsize <= VALUE_LIMIT
    return Reply(dtype, list(tensor.shape), arrays.content(tensor.asnumpy()) if small else b"")


def message(error):
    """The first line that says something, without the place in the sources."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = next((line for line in lines if line and not line.startswith("-")), type(error).__name__)
    return re.sub(r"0x[0-9a-f]+", "0x", said)


def functional(function):
    """Waits for the result: kernels run later, and an error would be another step's."""

    def call(_form, _out, *arguments):
        try:
            return function(*arguments)
        except (NameError, ImportError):
            raise
        except Exception as error:
            raise Rejection(message(error)) from error

    return call


def library():
    """MindSpore, whichever this Python has."""
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=True)
    ms.set_device("CPU")
    immutable = "MindSpore's functions return new tensors"
    return Library(
        name="mindspore",
        version=ms.__version__,
        build=f"CPU; {interpreter()}",
        dtypes=DTYPES,
        ops={name: functional(function) for name, function in OPERATIONS.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, ms.Tensor),
        classify=classifier(CLASSES),
        lacks=[
            *lacking_arguments(ARGUMENTS),
            *({"form": form, "why": immutable} for form in ("in_place", "out")),
            {"dtype": "bfloat16", "why": "NumPy, by which tensors are made, has no such dtype"},
        ],
        apart=frozenset(),
    )
