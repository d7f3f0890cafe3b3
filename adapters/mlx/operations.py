"""The operation table, as far as MLX has it. Arrays are lazy: a step computes its result and its target.

An operation is a function of `mlx.core`, or one of the losses of `mlx.nn`, and nothing made of several; in place it is
an operator such as `+=`, or an assignment to an index. Numbers stay Python's, so that MLX promotes them as it does for
its users.
"""

import mlx.core as mx
from mlx.nn import losses

from broadcheck_adapter import (
    VALUE_LIMIT, Inexpressible, Library, Reply, Sizes, Unsupported, array_api, classifier, interpreter,
)  # fmt: skip
from broadcheck_adapter.numpy_like import reduction
from broadcheck_adapter.operation import (
    FUNCTIONAL, IN_PLACE, binary, in_place, lacking_arguments, lacking_forms, table,
)  # fmt: skip

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


UNCHECKED = "MLX does not check indices: what is beyond an axis is undefined behaviour, in its documentation's words"


def checked(array, axis, item):
    """An index, if it is none beyond that axis, which would read or write the memory of something else. MLX rejects
    indices that are no integers, and checks masks."""
    integral = not isinstance(item, mx.array) or "int" in str(item.dtype)
    if -array.ndim <= axis < array.ndim and not isinstance(item, slice) and integral:
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
    """Returns the index expression: a lone tensor without a tuple."""
    items = [slice(None) if index is None else checked(array, axis, index) for axis, index in enumerate(indices)]
    return items[0] if len(items) == 1 else tuple(items)


def index_put(array, indices, values, _accumulate):
    array[by_tensors(array, indices)] = values


def take(array, dim, index):
    return mx.take(array, checked(array, dim, index), axis=dim)


def take_along(array, index, dim):
    return mx.take_along_axis(array, checked(array.reshape(-1) if dim is None else array, dim or 0, index), axis=dim)


def sizes(shape):
    return tuple(shape) if isinstance(shape, list) else (shape,)


def write(array, source):
    array[...] = source


OPERATIONS = {
    **{op: binary(function, array_api.OPERATORS.get(op)) for op, function in array_api.elementwise(mx).items()},
    **array_api.reductions(mx, correction="ddof"),
    **array_api.comparisons(mx),
    **array_api.shapes(mx),
    **array_api.products(mx),
    "clamp": mx.clip,
    "clamp_min": lambda array, low: mx.clip(array, low, None),
    "clamp_max": lambda array, high: mx.clip(array, None, high),
    "where": mx.where,
    "copy": in_place(write),
    "fill": in_place(write),
    "broadcast_shapes": lambda shapes: Sizes(mx.broadcast_shapes(*map(sizes, shapes))),
    "squeeze": mx.squeeze,
    "flatten": mx.flatten,
    "unflatten": mx.unflatten,
    # A write to a view of an array does not change the array, so a view cannot be distinguished from a copy.
    "view": mx.reshape,
    "contiguous": mx.contiguous,
    "clone": mx.array,
    "detach": mx.stop_gradient,
    "index": get,
    "index.Tensor": lambda array, indices: array[by_tensors(array, indices)],
    "index_put": in_place(index_put),
    "index_select": take,
    "take_along_dim": take_along,
    "item": mx.array.item,
    "addmm": lambda array, left, right, beta, alpha: mx.addmm(array, left, right, alpha=alpha, beta=beta),
    "linalg_vecdot": lambda left, right, dim: mx.vecdot(left, right, axis=dim),
    "logsumexp": reduction(mx.logsumexp),
    "mse_loss": lambda array, target, kind: losses.mse_loss(array, target, reduction=kind),
    "l1_loss": lambda array, target, kind: losses.l1_loss(array, target, reduction=kind),
    "smooth_l1_loss": lambda array, target, kind, beta: losses.smooth_l1_loss(array, target, beta=beta, reduction=kind),
    "huber_loss": lambda array, target, kind, delta: losses.huber_loss(array, target, delta=delta, reduction=kind),
}

ARGUMENTS = {
    ("index_put", "accumulate"): "MLX's assignment to an index does not accumulate",
    **{(op, "dtype"): f"MLX's {op} has no dtype" for op in ("sum", "prod", "mean")},
} | array_api.usual_arguments("MLX's", OPERATIONS)

REASONS = {FUNCTIONAL: "MLX only does it in place", IN_PLACE: "MLX's function does not write to its operand"}

# Texts of exceptions, with their classes of rejections. The first that fits counts; a name before the colon limits
# it to an operation.
CLASSES = [
    (r"^broadcast_shapes: std::bad_cast", "argument"),
    (r"^(expand|expand_as|broadcast_to): .*(Cannot broadcast|cannot be broadcast)", "expand"),
    (r"^addmm: .*(must broadcast|cannot be broadcast)", "expand"),
    (r"^(copy|fill|\w+ in place): .*Cannot broadcast", "output-shape"),
    (r"Negative dimensions|outside the supported range|malloc|allocate", "impossible-size"),
    (r"must match second to last|must have at least one dimension|same last dimension", "product-shape"),
    (r"(First|Second) input must|same size along axis|same shape on the contracted|must have size 2 or 3", "product-shape"),
    (r"\[einsum\] (At least one operand|Cannot broadcast|Dimensions of|Invalid number|Number of|Operand)", "einsum-operand"),
    (r"^einsum: (?!.*types are supported)", "einsum-equation"),
    (r"[Cc]annot (be )?broadcast|does not match targets|mask should have the same shape", "size-mismatch"),
    (r"must be broadcastable|enough elements for mask|are too large for array", "size-mismatch"),
    (r"inversion failed|[Ss]ingular", "singular"),
    (r"may be None|at least one shape|would result in overflow", "argument"),
    (r"axes must have the same size|incompatible function", "argument"),
    (r"reshape|Cannot unflatten|cannot be empty|can only infer", "view"),
    (r"Only length-1", "item-count"),
    (r"[Nn]ot supported|[Oo]nly allowed|not allowed (with )?(bitwise|left|right)", "dtype"),
    (r"must promote to|Only (inexact|real)|cannot cast", "dtype"),
    (r"invalid dtype|with indices type|not yet supported", "dtype"),
    (r"[Ii]nvalid ax[ie]s|out of bounds|out of range|[Tt]oo many indices|[Dd]uplicate|Repeat axes", "dimension"),
    (r"Received (empty|non-empty|\d+ axes|invalid)|zero size|with size 0|empty axis|is empty", "dimension"),
    (r"mask cannot have more dimensions|Too many index arrays", "dimension"),
    (r"inputs must be at least|does not match array|less than or equal to end_axis|squeeze axis", "dimension"),
]


def make(dtype, shape, data, _requires_grad):
    return mx.array(list(data), dtype=mx.uint8).view(DTYPES[dtype]).reshape(shape)


def read(array):
    if any(size < 0 for size in array.shape):
        raise Inexpressible(f"the result has the shape {list(array.shape)}, which has negative sizes")
    small = array.nbytes <= VALUE_LIMIT
    data = bytes(memoryview(mx.contiguous(array).reshape(-1).view(mx.uint8))) if small and array.size else b""
    return Reply(str(array.dtype).removeprefix("mlx.core."), list(array.shape), data)


def computed(operation):
    def call(*arguments):
        result = operation(*arguments)
        mx.eval(result)
        return result

    return call


def library():
    """MLX, whichever this Python has."""
    mx.set_default_device(mx.cpu)
    operations = table(OPERATIONS)
    return Library(
        name="mlx",
        version=mx.__version__,
        build=f"{mx.default_device()}; {interpreter()}",
        dtypes=list(DTYPES),
        ops={name: computed(operation) for name, operation in operations.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, mx.array),
        classify=classifier(CLASSES),
        capabilities=["in_place"],
        lacks=[
            *lacking_forms(operations, REASONS),
            {"form": "out", "why": "MLX's functions have no out="},
            *lacking_arguments(ARGUMENTS),
            {"dtype": "complex128", "why": "MLX has no such dtype"},
        ],
        unsupported=[
            {"what": UNCHECKED, "ops": ["index", "index.Tensor", "index_put", "index_select", "take_along_dim"]}
        ],
    )
