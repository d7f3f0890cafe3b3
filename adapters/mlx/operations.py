"""The operation table, as far as MLX has it. Arrays are lazy: a step computes its result and its target.

An operation is a function of `mlx.core`, or one of the losses of `mlx.nn`, and nothing made of several; in place it is
an operator such as `+=`, or an assignment to an index. Numbers stay Python's, so that MLX promotes them as it does for
its users.
"""

import operator
import platform
import re
import sys

import mlx.core as mx
from mlx.nn import losses

from broadcheck_adapter import VALUE_LIMIT, Library, Reply, Sizes, Unsupported
from broadcheck_adapter.library import Inexpressible

FUNCTIONAL, IN_PLACE = "functional", "in_place"

DTYPES = {
    "bool": mx.bool_,
    "uint8": mx.uint8,
    "int8": mx.int8,
    "int16": mx.int16,
    "int32": mx.int32,
    "int64": mx.int64,
    "float16": mx.float16,
    "bfloat16": mx.bfloat16,
    "float32": mx.float32,
    "float64": mx.float64,
    "complex64": mx.complex64,
}


def functional(function):
    return lambda _form, *arguments: function(*arguments), (FUNCTIONAL,)


def both(function, in_place=None):
    """A function of two operands, whose other parameters keep their defaults, and its operator in place."""

    def call(form, left, right, *_defaults):
        if form == FUNCTIONAL:
            return function(left, right)
        result = in_place(left, right)
        assert result is left, "an operator in place gave another array"
        return result

    return call, (FUNCTIONAL,) if in_place is None else (FUNCTIONAL, IN_PLACE)


def in_place(function):
    """A function that changes its first argument and returns nothing."""

    def call(_form, target, *arguments):
        function(target, *arguments)
        return target

    return call, (IN_PLACE,)


def reduction(function):
    """A reduction with an axis and `keepdims`. Its dtype, if PyTorch's has one, keeps its default."""
    return functional(lambda array, dim, keepdim, _dtype=None: function(array, axis=dim, keepdims=keepdim))


def spread(function):
    """A variance. Without a correction it is MLX's own default, which is another than PyTorch's."""

    def call(array, dim, correction, keepdim, _unbiased):
        given = {} if correction is None else {"ddof": correction}
        return function(array, axis=dim, keepdims=keepdim, **given)

    return functional(call)


def closeness(function):
    return lambda a, b, rtol, atol, nan: function(a, b, rtol=rtol, atol=atol, equal_nan=nan)


def truth(function):
    """A function that answers with an array of no dimensions where PyTorch answers with a bool."""
    return functional(lambda *arguments: function(*arguments).item())


def axes(dim):
    return tuple(dim) if isinstance(dim, list) else (dim,)


UNCHECKED = "MLX does not check indices: what is beyond an axis is undefined behaviour, in its documentation's words"


def checked(array, axis, item):
    """An index, if it is none beyond that axis, which would read or write the memory of something else."""
    if -array.ndim <= axis < array.ndim and not isinstance(item, slice):
        size = array.shape[axis]
        places = [item] if isinstance(item, int) else item.reshape(-1).tolist()
        if not all(-size <= place < size for place in places):
            raise Unsupported(UNCHECKED)
    return item


def get(array, items):
    wanted = sum(item is not None and item is not Ellipsis for item in items)
    axis = 0
    for item in items:
        if item is Ellipsis:
            axis += array.ndim - wanted
        elif item is not None:
            checked(array, axis, item)
            axis += 1
    return array[items]


def by_tensors(array, indices):
    """What stands between the brackets: a lone tensor stands there by itself."""
    items = [slice(None) if index is None else checked(array, axis, index) for axis, index in enumerate(indices)]
    return items[0] if len(items) == 1 else tuple(items)


def index_put(array, indices, values, _accumulate):
    array[by_tensors(array, indices)] = values


def take(array, dim, index):
    return mx.take(array, checked(array, dim, index), axis=dim)


def take_along(array, index, dim):
    return mx.take_along_axis(array, checked(array.reshape(-1) if dim is None else array, dim or 0, index), axis=dim)


def write(array, source):
    array[...] = source


OPERATIONS = {
    "add": both(mx.add, operator.iadd),
    "sub": both(mx.subtract, operator.isub),
    "mul": both(mx.multiply, operator.imul),
    "div": both(mx.divide, operator.itruediv),
    "floor_divide": both(mx.floor_divide, operator.ifloordiv),
    "remainder": both(mx.remainder, operator.imod),
    "pow": both(mx.power, operator.ipow),
    "bitwise_and": both(mx.bitwise_and, operator.iand),
    "bitwise_or": both(mx.bitwise_or, operator.ior),
    "bitwise_xor": both(mx.bitwise_xor, operator.ixor),
    "bitwise_left_shift": both(mx.left_shift, operator.ilshift),
    "bitwise_right_shift": both(mx.right_shift, operator.irshift),
    "eq": both(mx.equal),
    "ne": both(mx.not_equal),
    "lt": both(mx.less),
    "le": both(mx.less_equal),
    "gt": both(mx.greater),
    "ge": both(mx.greater_equal),
    "maximum": both(mx.maximum),
    "minimum": both(mx.minimum),
    "logical_and": both(mx.logical_and),
    "logical_or": both(mx.logical_or),
    "logical_xor": both(mx.logical_xor),
    "atan2": both(mx.arctan2),
    "logaddexp": both(mx.logaddexp),
    "clamp": functional(mx.clip),
    "clamp_min": functional(lambda array, low: mx.clip(array, low, None)),
    "clamp_max": functional(lambda array, high: mx.clip(array, None, high)),
    "where": functional(mx.where),
    "isclose": functional(closeness(mx.isclose)),
    "allclose": truth(closeness(mx.allclose)),
    "equal": truth(mx.array_equal),
    "copy": in_place(write),
    "fill": in_place(write),
    "expand": functional(mx.broadcast_to),
    "expand_as": functional(lambda array, other: mx.broadcast_to(array, other.shape)),
    "broadcast_to": functional(mx.broadcast_to),
    "broadcast_tensors": functional(lambda arrays: mx.broadcast_arrays(*arrays)),
    "broadcast_shapes": functional(lambda shapes: Sizes(mx.broadcast_shapes(*map(axes, shapes)))),
    "unsqueeze": functional(mx.expand_dims),
    "transpose": functional(mx.swapaxes),
    "swapaxes": functional(mx.swapaxes),
    "swapdims": functional(mx.swapaxes),
    "permute": functional(mx.transpose),
    "movedim": functional(mx.moveaxis),
    "moveaxis": functional(mx.moveaxis),
    "squeeze": functional(mx.squeeze),
    "flatten": functional(mx.flatten),
    "unflatten": functional(mx.unflatten),
    "reshape": functional(mx.reshape),
    # Who writes to what comes of an array does not write to the array, so that nothing tells a view from a copy.
    "view": functional(mx.reshape),
    "contiguous": functional(mx.contiguous),
    "clone": functional(mx.array),
    "detach": functional(mx.stop_gradient),
    "index": functional(get),
    "index.Tensor": functional(lambda array, indices: array[by_tensors(array, indices)]),
    "index_put": in_place(index_put),
    "index_select": functional(take),
    "take_along_dim": functional(take_along),
    "item": functional(mx.array.item),
    "einsum": functional(lambda equation, arrays: mx.einsum(equation, *arrays)),
    "matmul": functional(mx.matmul),
    "addmm": functional(lambda array, left, right, beta, alpha: mx.addmm(array, left, right, alpha=alpha, beta=beta)),
    "outer": functional(mx.outer),
    "inner": functional(mx.inner),
    "tensordot": functional(lambda left, right, *dims: mx.tensordot(left, right, axes=dims)),
    "kron": functional(mx.kron),
    "linalg_vecdot": functional(lambda left, right, dim: mx.vecdot(left, right, axis=dim)),
    "linalg_cross": functional(lambda left, right, dim: mx.linalg.cross(left, right, axis=dim)),
    "linalg_solve": functional(lambda left, right, _side: mx.linalg.solve(left, right)),
    "sum": reduction(mx.sum),
    "prod": reduction(mx.prod),
    "mean": reduction(mx.mean),
    "amax": reduction(mx.max),
    "amin": reduction(mx.min),
    "all": reduction(mx.all),
    "any": reduction(mx.any),
    "argmax": reduction(mx.argmax),
    "argmin": reduction(mx.argmin),
    "logsumexp": reduction(mx.logsumexp),
    "var": spread(mx.var),
    "std": spread(mx.std),
    "mse_loss": functional(lambda array, target, kind: losses.mse_loss(array, target, reduction=kind)),
    "l1_loss": functional(lambda array, target, kind: losses.l1_loss(array, target, reduction=kind)),
    "smooth_l1_loss": functional(
        lambda array, target, kind, beta: losses.smooth_l1_loss(array, target, beta=beta, reduction=kind)
    ),
    "huber_loss": functional(
        lambda array, target, kind, delta: losses.huber_loss(array, target, delta=delta, reduction=kind)
    ),
}

ARGUMENTS = {
    ("add", "alpha"): "MLX's add has no factor",
    ("sub", "alpha"): "MLX's subtract has no factor",
    ("div", "rounding_mode"): "MLX's divide has no rounding mode",
    ("index_put", "accumulate"): "MLX's assignment to an index does not accumulate",
    ("linalg_solve", "left"): "MLX's solve has no such switch",
    **{(op, "dtype"): f"MLX's {op} has no dtype" for op in ("sum", "prod", "mean")},
    **{(op, "unbiased"): f"MLX's {op} has no such switch" for op in ("var", "std")},
}

REASONS = {FUNCTIONAL: "MLX only does it in place", IN_PLACE: "MLX's function does not write to its operand"}

# Texts of exceptions, with the classes of what they refuse. The first that fits counts; a name before the colon limits
# it to an operation.
CLASSES = [
    (re.compile(pattern), kind)
    for pattern, kind in [
        (r"^(expand|expand_as|broadcast_to): .*(Cannot broadcast|cannot be broadcast)", "expand"),
        (r"^addmm: .*(must broadcast|cannot be broadcast)", "expand"),
        (r"^(copy|fill|\w+ in place): .*Cannot broadcast", "output-shape"),
        (r"Negative dimensions|outside the supported range|malloc|allocate", "impossible-size"),
        (r"must match second to last|must have at least one dimension|same last dimension", "product-shape"),
        (r"First input must|same size along axis|same shape on the contracted|must have size 2 or 3", "product-shape"),
        (r"\[einsum\] (Cannot broadcast|Dimensions of|Invalid number|Number of|Operand)", "einsum-operand"),
        (r"^einsum: (?!.*types are supported)", "einsum-equation"),
        (r"[Cc]annot (be )?broadcast|does not match targets|mask should have the same shape", "size-mismatch"),
        (r"inversion failed|[Ss]ingular", "singular"),
        (r"may be None|at least one shape|would result in overflow", "argument"),
        (r"axes must have the same size|incompatible function", "argument"),
        (r"reshape|Cannot unflatten|cannot be empty|can only infer", "view"),
        (r"Only length-1", "item-count"),
        (r"[Nn]ot supported|[Oo]nly allowed|must promote to|Only (inexact|real)|cannot cast", "dtype"),
        (r"invalid dtype|with indices type|not yet supported", "dtype"),
        (r"[Ii]nvalid ax[ie]s|out of bounds|out of range|[Tt]oo many indices|[Dd]uplicate|Repeat axes", "dimension"),
        (r"Received (empty|non-empty|\d+ axes|invalid)|zero size|with size 0|empty axis|is empty", "dimension"),
        (r"inputs must be at least|does not match array|less than or equal to end_axis|squeeze axis", "dimension"),
    ]
]  # fmt: skip


def classify(error, op):
    """What kind of refusal an exception is."""
    text = f"{op}: {error}"
    return next((kind for pattern, kind in CLASSES if pattern.search(text)), None)


def make(dtype, shape, data, _requires_grad):
    return mx.array(list(data), dtype=mx.uint8).view(DTYPES[dtype]).reshape(shape)


def read(array):
    if any(size < 0 for size in array.shape):
        raise Inexpressible(f"the result has the shape {list(array.shape)}, which has negative sizes")
    small = array.nbytes <= VALUE_LIMIT
    data = bytes(memoryview(mx.contiguous(array).reshape(-1).view(mx.uint8))) if small and array.size else b""
    return Reply(str(array.dtype).removeprefix("mlx.core."), list(array.shape), data)


def computed(function):
    def call(form, _out, *arguments):
        result = function(form, *arguments)
        mx.eval(result)
        return result

    return call


def library():
    """MLX, whichever this Python has."""
    mx.set_default_device(mx.cpu)
    lacks = [
        {"op": name, "form": form, "why": why}
        for name, (_, forms) in OPERATIONS.items()
        for form, why in REASONS.items()
        if form not in forms
    ]
    lacks.append({"form": "out", "why": "MLX's functions have no out="})
    lacks += [{"op": op, "argument": argument, "why": why} for (op, argument), why in ARGUMENTS.items()]
    lacks.append({"dtype": "complex128", "why": "MLX has no such dtype"})
    return Library(
        name="mlx",
        version=mx.__version__,
        build=f"{mx.default_device()}; Python {platform.python_version()} on {sys.platform} {platform.machine()}",
        dtypes=list(DTYPES),
        ops={name: computed(function) for name, (function, _) in OPERATIONS.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, mx.array),
        classify=classify,
        capabilities=["in_place"],
        lacks=lacks,
        unsupported=[UNCHECKED],
    )
