"""The operation table, as far as tinygrad has it. Its methods have the names of PyTorch's, and mean to do the same.

An operation is a method of `Tensor`, or an operator where it has one, so that a number may stand on the left. Tensors
are lazy: a step computes its result and its target.
"""

import importlib.metadata
import itertools
import operator

from tinygrad import Device, Tensor, UOp, dtypes

from broadcheck_adapter import (
    VALUE_LIMIT, Inexpressible, Library, Rejection, Reply, Unsupported, array_api, classifier, interpreter,
)  # fmt: skip
from broadcheck_adapter.numpy_like import by_tensors, spread
from broadcheck_adapter.operation import (
    FUNCTIONAL, IN_PLACE, Operation, changing, in_place, lacking_arguments, lacking_forms, of_two, table,
)  # fmt: skip

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "bfloat16", "float32", "float64"]
NAMES = {getattr(dtypes, name): name for name in [*DTYPES, "float16", "uint16", "uint32", "uint64"]}

NUMBERS = "two numbers have Python's own operators, and not tinygrad's"
FMOD = "tinygrad's fmod takes no number on the left"
ONE = {op: f"tinygrad's {op} takes one dimension, or none for all" for op in ("squeeze", "logsumexp")}


def with_tensor(function):
    """An operator of two operands, of which at least one has to be a tensor."""

    def call(left, right):
        if not (isinstance(left, Tensor) or isinstance(right, Tensor)):
            raise Unsupported(NUMBERS)
        return function(left, right)

    return call


def both(function, operator):
    """An operator of two operands, and the one that assigns its result to the first operand."""
    return Operation(of_two(with_tensor(function)), of_two(changing(operator)))


def of_one(op, function):
    """A function of a tensor that takes one dimension, where PyTorch takes several."""

    def call(tensor, dim, *arguments):
        if isinstance(dim, list):
            if len(dim) != 1:
                raise Unsupported(ONE[op])
            (dim,) = dim
        return function(tensor, dim, *arguments)

    return call


def fmod(left, right):
    if not isinstance(left, Tensor):
        raise Unsupported(FMOD)
    return left.fmod(right)


def divide(left, right, rounding):
    if rounding is None or not (isinstance(left, Tensor) or isinstance(right, Tensor)):
        return with_tensor(operator.truediv)(left, right)
    if isinstance(left, Tensor):
        return left.div(right, rounding_mode=rounding)
    return right.div(left, reverse=True, rounding_mode=rounding)


def cross_entropy(tensor, target, _weight, pos_weight, kind):
    return tensor.binary_crossentropy_logits(target, kind, pos_weight)


def index_put(tensor, indices, values, _accumulate):
    tensor[by_tensors(indices)] = values


OPERATORS = {
    "add": both(operator.add, operator.iadd),
    "sub": both(operator.sub, operator.isub),
    "mul": both(operator.mul, operator.imul),
    "div": Operation(divide, of_two(changing(operator.itruediv))),
    "floor_divide": both(operator.floordiv, operator.ifloordiv),
    "pow": both(operator.pow, operator.ipow),
    "bitwise_and": both(operator.and_, operator.iand),
    "bitwise_or": both(operator.or_, operator.ior),
    "bitwise_xor": both(operator.xor, operator.ixor),
    "bitwise_left_shift": both(operator.lshift, operator.ilshift),
    "bitwise_right_shift": both(operator.rshift, operator.irshift),
    "remainder": with_tensor(operator.mod),
    "eq": with_tensor(operator.eq),
    "ne": with_tensor(operator.ne),
    "lt": with_tensor(operator.lt),
    "le": with_tensor(operator.le),
    "gt": with_tensor(operator.gt),
    "ge": with_tensor(operator.ge),
}

OPERATIONS = {
    **OPERATORS,
    "maximum": Tensor.maximum,
    "minimum": Tensor.minimum,
    "fmod": fmod,
    "copysign": Tensor.copysign,
    "logaddexp": Tensor.logaddexp,
    "clamp": Tensor.clamp,
    "clamp_min": lambda tensor, low: tensor.clamp(min_=low),
    "clamp_max": lambda tensor, high: tensor.clamp(max_=high),
    "where": Tensor.where,
    "masked_fill": Tensor.masked_fill,
    "masked_select": Tensor.masked_select,
    "lerp": Tensor.lerp,
    "isclose": Tensor.isclose,
    "allclose": lambda *arguments: Tensor.allclose(*arguments).item(),
    "copy": in_place(Tensor.assign),
    "fill": in_place(Tensor.assign),
    "expand": Tensor.expand,
    "expand_as": lambda tensor, other: tensor.expand(other.shape),
    "broadcast_to": Tensor.expand,
    "unsqueeze": Tensor.unsqueeze,
    "transpose": Tensor.transpose,
    "permute": Tensor.permute,
    "view": Tensor.view,
    "reshape": Tensor.reshape,
    "flatten": Tensor.flatten,
    "unflatten": lambda tensor, dim, sizes: tensor.unflatten(dim, tuple(sizes)),
    "squeeze": of_one("squeeze", Tensor.squeeze),
    "detach": Tensor.detach,
    "clone": Tensor.clone,
    "contiguous": Tensor.contiguous,
    "index": operator.getitem,
    "index.Tensor": lambda tensor, indices: tensor[by_tensors(indices)],
    "index_put": in_place(index_put),
    "gather": Tensor.gather,
    "scatter": Tensor.scatter,
    "item": Tensor.item,
    "einsum": Tensor.einsum,
    "matmul": Tensor.matmul,
    **array_api.reductions(Tensor, "keepdim"),
    "logsumexp": of_one("logsumexp", Tensor.logsumexp),
    "var_mean": spread(Tensor.var_mean, "keepdim"),
    "std_mean": spread(Tensor.std_mean, "keepdim"),
    "binary_cross_entropy_with_logits": cross_entropy,
}


ARGUMENTS = {
    ("add", "alpha"): "tinygrad's add has no factor",
    ("sub", "alpha"): "tinygrad's sub has no factor",
    ("mean", "dtype"): "tinygrad's mean has no dtype",
    ("index_put", "accumulate"): "tinygrad's assignment to an index does not accumulate",
    ("binary_cross_entropy_with_logits", "weight"): "tinygrad's binary_crossentropy_logits has no weight",
    **{(op, "unbiased"): f"tinygrad's {op} has no such switch" for op in ("var", "std", "var_mean", "std_mean")},
}

REASONS = {FUNCTIONAL: "tinygrad only does it in place", IN_PLACE: "tinygrad has no such operator"}

# Texts of exceptions, with their classes of rejections. The first that fits counts; a name before the colon limits
# it to an operation, `in place` to what is assigned.
CLASSES = [
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
    # The values to put are reshaped to the selection.
    (r"^index_put( in place)?: size mismatch, can't reshape", "size-mismatch"),
    (r"base needs to be float|rounding_mode=|cannot convert float|cannot have 0 as step", "argument"),
    (r"reshape|one dimension can be inferred|division or modulo by zero", "view"),
    (r"must have one element", "item-count"),
    (r"out of range|out of bounds|too many indices|valid permutation|ndim must", "dimension"),
    # A kernel without an implementation is shown as a graph, which has dtypes.
    (r"verification failed|dtype(?!s\.)|must be bool|must be int|unsupported operand|expects", "dtype"),
]


def rejecting(function):
    """Makes a rejection of a KeyError in a table of tinygrad's own, as those of the kernels of a backend."""

    def call(*arguments):
        try:
            return function(*arguments)
        except KeyError as error:
            if isinstance(error.args[0], UOp):
                raise Rejection(str(error)) from error
            raise

    return call


def make(dtype, shape, data, _requires_grad):
    return Tensor(data, dtype=dtype).reshape(shape).contiguous().realize()


def countable(shape):
    """Returns True if a reply can have that shape: tinygrad accepts any."""
    counts = list(itertools.accumulate(shape, operator.mul))
    return all(size >= 0 for size in shape) and all(count < 1 << 63 for count in counts)


def read(tensor):
    # A result of integers and a Python scalar has no size until it is read.
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


def computed(operation):
    def call(*arguments):
        result = operation(*arguments)
        for each in result if isinstance(result, tuple) else (result,):
            if isinstance(each, Tensor) and each.dtype not in dtypes.weaks:
                each.realize()
        return result

    return rejecting(call)


def library():
    """tinygrad, whichever this Python has."""
    missing = [{"form": "out", "why": "tinygrad's methods have no out="}]
    no_mode = "tinygrad's /= has no rounding mode"
    missing.append({"op": "div", "form": IN_PLACE, "argument": "rounding_mode", "why": no_mode})
    missing.append({"dtype": "float16", "why": "the Python backend has it from Python 3.12 on only"})
    for dtype in ("complex64", "complex128"):
        typed = [{"op": op, "argument": "dtype"} for op in ("sum", "prod")]
        missing += [{**each, "dtype": dtype, "why": "tinygrad has no such dtype"} for each in ({}, *typed)]
    operations = table(OPERATIONS)
    return Library(
        name="tinygrad",
        version=importlib.metadata.version("tinygrad"),
        build=f"DEV={Device.DEFAULT}; {interpreter()}",
        dtypes=DTYPES,
        ops={name: computed(operation) for name, operation in operations.items()},
        make=make,
        read=rejecting(read),
        is_tensor=lambda value: isinstance(value, Tensor),
        classify=classifier(CLASSES),
        capabilities=["in_place"],
        lacks=[*lacking_forms(operations, REASONS), *lacking_arguments(ARGUMENTS), *missing],
        unsupported=[
            {"what": NUMBERS, "ops": list(OPERATORS), "forms": [FUNCTIONAL]},
            {"what": FMOD, "ops": ["fmod"]},
            *({"what": what, "ops": [op]} for op, what in ONE.items()),
        ],
        # tinygrad asserts what it expects of its arguments.
        mistakes=(NameError, AttributeError, KeyError, ImportError),
    )
