"""The operation table, as far as tinygrad has it. Its methods have the names of PyTorch's, and mean to do the same.

An operation is a method of `Tensor`, or an operator where it has one, so that a number may stand on the left. Tensors
are lazy: a step computes its result and its target.
"""

import importlib.metadata
import itertools
import operator
import platform
import re
import sys

from tinygrad import Device, Tensor, dtypes

from broadcheck_adapter import VALUE_LIMIT, Library, Reply, Unsupported
from broadcheck_adapter.library import Inexpressible

FUNCTIONAL, IN_PLACE = "functional", "in_place"

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "bfloat16", "float32", "float64"]
NAMES = {getattr(dtypes, name): name for name in [*DTYPES, "float16", "uint16", "uint32", "uint64"]}


def functional(function):
    return lambda _form, *arguments: function(*arguments), (FUNCTIONAL,)


def both(function, in_place):
    """A function, and the operator that assigns its result to the first operand."""

    def call(form, left, right, *_defaults):
        if form == FUNCTIONAL:
            return function(left, right)
        in_place(left, right)
        return left

    return call, (FUNCTIONAL, IN_PLACE)


def in_place(function):
    """A function that changes its first argument."""

    def call(_form, target, *arguments):
        function(target, *arguments)
        return target

    return call, (IN_PLACE,)


def axes(dim):
    return tuple(dim) if isinstance(dim, list) else dim


def reduction(function):
    """A reduction with an axis, `keepdim` and perhaps a dtype."""

    def call(tensor, dim, keepdim, dtype=None):
        typed = {} if dtype is None else {"dtype": dtype}
        return function(tensor, axis=axes(dim), keepdim=keepdim, **typed)

    return functional(call)


def spread(function):
    def call(tensor, dim, correction, keepdim, _unbiased):
        given = {} if correction is None else {"correction": correction}
        return function(tensor, axis=axes(dim), keepdim=keepdim, **given)

    return functional(call)


FMOD = "tinygrad's fmod takes no number on the left"
ONE = {op: f"tinygrad's {op} takes one dimension, or none for all" for op in ("squeeze", "logsumexp")}


def of_one(op, function):
    """A function of a tensor that takes one dimension, where PyTorch takes several."""

    def call(tensor, dim, *arguments):
        if isinstance(dim, list):
            if len(dim) != 1:
                raise Unsupported(ONE[op])
            (dim,) = dim
        return function(tensor, dim, *arguments)

    return functional(call)


def fmod(left, right):
    if not isinstance(left, Tensor):
        raise Unsupported(FMOD)
    return left.fmod(right)


def by_tensors(indices):
    return tuple(slice(None) if index is None else index for index in indices)


def index_put(tensor, indices, values, _accumulate):
    tensor[by_tensors(indices)] = values


OPERATIONS = {
    "add": both(operator.add, operator.iadd),
    "sub": both(operator.sub, operator.isub),
    "mul": both(operator.mul, operator.imul),
    "floor_divide": both(operator.floordiv, operator.ifloordiv),
    "pow": both(operator.pow, operator.ipow),
    "bitwise_and": both(operator.and_, operator.iand),
    "bitwise_or": both(operator.or_, operator.ior),
    "bitwise_xor": both(operator.xor, operator.ixor),
    "bitwise_left_shift": both(operator.lshift, operator.ilshift),
    "bitwise_right_shift": both(operator.rshift, operator.irshift),
    "remainder": functional(operator.mod),
    "eq": functional(operator.eq),
    "ne": functional(operator.ne),
    "lt": functional(operator.lt),
    "le": functional(operator.le),
    "gt": functional(operator.gt),
    "ge": functional(operator.ge),
    "maximum": functional(Tensor.maximum),
    "minimum": functional(Tensor.minimum),
    "fmod": functional(fmod),
    "copysign": functional(Tensor.copysign),
    "logaddexp": functional(Tensor.logaddexp),
    "clamp": functional(Tensor.clamp),
    "clamp_min": functional(lambda tensor, low: tensor.clamp(min_=low)),
    "clamp_max": functional(lambda tensor, high: tensor.clamp(max_=high)),
    "where": functional(Tensor.where),
    "masked_fill": functional(Tensor.masked_fill),
    "masked_select": functional(Tensor.masked_select),
    "lerp": functional(Tensor.lerp),
    "isclose": functional(Tensor.isclose),
    "allclose": functional(lambda *arguments: Tensor.allclose(*arguments).item()),
    "copy": in_place(Tensor.assign),
    "fill": in_place(Tensor.assign),
    "expand": functional(Tensor.expand),
    "expand_as": functional(lambda tensor, other: tensor.expand(other.shape)),
    "broadcast_to": functional(Tensor.expand),
    "unsqueeze": functional(Tensor.unsqueeze),
    "transpose": functional(Tensor.transpose),
    "permute": functional(Tensor.permute),
    "view": functional(Tensor.view),
    "reshape": functional(Tensor.reshape),
    "flatten": functional(Tensor.flatten),
    "unflatten": functional(lambda tensor, dim, sizes: tensor.unflatten(dim, tuple(sizes))),
    "squeeze": of_one("squeeze", Tensor.squeeze),
    "detach": functional(Tensor.detach),
    "clone": functional(Tensor.clone),
    "contiguous": functional(Tensor.contiguous),
    "index": functional(operator.getitem),
    "index.Tensor": functional(lambda tensor, indices: tensor[by_tensors(indices)]),
    "index_put": in_place(index_put),
    "gather": functional(Tensor.gather),
    "scatter": functional(Tensor.scatter),
    "item": functional(Tensor.item),
    "einsum": functional(Tensor.einsum),
    "matmul": functional(Tensor.matmul),
    "sum": reduction(Tensor.sum),
    "prod": reduction(Tensor.prod),
    "mean": reduction(Tensor.mean),
    "amax": reduction(Tensor.max),
    "amin": reduction(Tensor.min),
    "all": reduction(Tensor.all),
    "any": reduction(Tensor.any),
    "argmax": reduction(Tensor.argmax),
    "argmin": reduction(Tensor.argmin),
    "logsumexp": of_one("logsumexp", Tensor.logsumexp),
    "var": spread(Tensor.var),
    "std": spread(Tensor.std),
    "var_mean": spread(Tensor.var_mean),
    "std_mean": spread(Tensor.std_mean),
    "binary_cross_entropy_with_logits": functional(
        lambda tensor, target, _weight, pos_weight, kind: tensor.binary_crossentropy_logits(target, kind, pos_weight)
    ),
}


def divide(form, left, right, rounding):
    if form == IN_PLACE:
        left /= right
        return left
    if rounding is None:
        return left / right
    return left.div(right, rounding_mode=rounding)


OPERATIONS["div"] = divide, (FUNCTIONAL, IN_PLACE)

ARGUMENTS = {
    ("add", "alpha"): "tinygrad's add has no factor",
    ("sub", "alpha"): "tinygrad's sub has no factor",
    ("mean", "dtype"): "tinygrad's mean has no dtype",
    ("index_put", "accumulate"): "tinygrad's assignment to an index does not accumulate",
    ("binary_cross_entropy_with_logits", "weight"): "tinygrad's binary_crossentropy_logits has no weight",
    **{(op, "unbiased"): f"tinygrad's {op} has no such switch" for op in ("var", "std", "var_mean", "std_mean")},
}

# Texts of exceptions, with the classes of what they refuse. The first that fits counts; a name before the colon limits
# it to an operation, `in place` to what is assigned.
CLASSES = [
    (re.compile(pattern), kind)
    for pattern, kind in [
        (r"^(expand|expand_as|broadcast_to)( in place)?: cannot broadcast", "expand"),
        (r"^masked_select: cannot broadcast", "size-mismatch"),
        (r": cannot broadcast", "output-shape"),
        (r"can't contain negative|^\w+: $|Ops.SPECIAL", "impossible-size"),
        (r"attempting multiple stores", "overlap"),
        (r"cannot dot|need to be at least 1D", "product-shape"),
        (r"^einsum: .*(number of operands|different values for the same key)", "einsum-operand"),
        (r"^einsum: .*(valid permutation)", "einsum-operand"),
        (r"^einsum: ", "einsum-equation"),
        (r"cannot be broadcast to a single shape|^gather: requires", "size-mismatch"),
        (r"base needs to be float|rounding_mode=|cannot convert float|cannot have 0 as step", "argument"),
        (r"reshape|one dimension can be inferred|division or modulo by zero", "view"),
        (r"must have one element", "item-count"),
        (r"out of range|out of bounds|too many indices|valid permutation|ndim must", "dimension"),
        (r"verification failed|dtype|must be bool|must be int|unsupported operand|expects", "dtype"),
    ]
]  # fmt: skip


def classify(error, op):
    """What kind of refusal an exception is."""
    text = f"{op}: {error}"
    return next((kind for pattern, kind in CLASSES if pattern.search(text)), None)


def make(dtype, shape, data, _requires_grad):
    return Tensor(data, dtype=dtype).reshape(shape).contiguous().realize()


def countable(shape):
    """Whether a reply can have that shape: tinygrad lets it be anything."""
    counts = list(itertools.accumulate(shape, operator.mul))
    return all(size >= 0 for size in shape) and all(count < 1 << 63 for count in counts)


def read(tensor):
    # What a Python number has made of integers has no size until it is read.
    weak = {dtypes.weakint: dtypes.default_int, dtypes.weakfloat: dtypes.default_float}
    strong = tensor.cast(weak.get(tensor.dtype, tensor.dtype))
    data = b""
    if strong.numel() * strong.element_size() <= VALUE_LIMIT:
        # Python has no format for bfloat16, nor for more than 64 dimensions.
        plain = strong.bitcast(dtypes.uint16) if strong.dtype == dtypes.bfloat16 else strong
        data = plain.flatten().data().tobytes()
    if not countable(tensor.shape):
        raise Inexpressible(f"the result has the shape {list(tensor.shape)}, whose elements cannot be counted")
    return Reply(NAMES[strong.dtype], list(strong.shape), data)


def computed(function):
    def call(form, _out, *arguments):
        result = function(form, *arguments)
        for each in result if isinstance(result, tuple) else (result,):
            if isinstance(each, Tensor) and each.dtype not in dtypes.weaks:
                each.realize()
        return result

    return call


def library():
    """tinygrad, whichever this Python has."""
    lacks = [
        {"op": name, "form": form, "why": why}
        for name, (_, forms) in OPERATIONS.items()
        for form, why in (
            (FUNCTIONAL, "tinygrad only does it in place"),
            (IN_PLACE, "tinygrad has no such operator"),
        )
        if form not in forms
    ]
    lacks.append({"form": "out", "why": "tinygrad's methods have no out="})
    lacks += [{"op": op, "argument": argument, "why": why} for (op, argument), why in ARGUMENTS.items()]
    lacks.append({"dtype": "float16", "why": "the Python backend has it from Python 3.12 on only"})
    for dtype in ("complex64", "complex128"):
        typed = [{"op": op, "argument": "dtype"} for op in ("sum", "prod")]
        lacks += [{**each, "dtype": dtype, "why": "tinygrad has no such dtype"} for each in ({}, *typed)]
    return Library(
        name="tinygrad",
        version=importlib.metadata.version("tinygrad"),
        build=f"DEV={Device.DEFAULT}; Python {platform.python_version()} on {sys.platform} {platform.machine()}",
        dtypes=DTYPES,
        ops={name: computed(function) for name, (function, _) in OPERATIONS.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, Tensor),
        classify=classify,
        capabilities=["in_place"],
        lacks=lacks,
        unsupported=[FMOD, *ONE.values()],
        # tinygrad asserts what it expects of its arguments.
        mistakes=(NameError, AttributeError, KeyError, ImportError),
    )
