"""The operation table, as far as NumPy has it, and NumPy's arrays as the protocol sees them.

An operation is a function of NumPy and nothing made of several: what NumPy does not have is not put together here.
Numbers stay Python's, so that NumPy promotes them as it does for its users.
"""

import operator
import platform
import re
import sys
import warnings

import numpy as np

from broadcheck_adapter import VALUE_LIMIT, Library, Reply, Sizes

FUNCTIONAL, IN_PLACE, OUT = "functional", "in_place", "out"

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def ufunc(function, in_place=None):
    """A universal function of two operands. With an operator such as `+=`, in place is that operator."""

    def call(form, out, left, right, *_defaults):
        if form == OUT:
            return function(left, right, out=out)
        if form == FUNCTIONAL:
            return function(left, right)
        if in_place is None:
            return function(left, right, out=left)
        result = in_place(left, right)
        assert result is left, "an operator in place gave another array"
        return result

    return call, (FUNCTIONAL, IN_PLACE, OUT)


def functional(function):
    """A function without `out=`."""
    return lambda _form, _out, *arguments: function(*arguments), (FUNCTIONAL,)


def with_out(function):
    """A function with `out=`, which is None where the caller gives none."""
    return lambda _form, out, *arguments: function(*arguments, out=out), (FUNCTIONAL, OUT)


def in_place(function):
    """A function that changes its first argument and returns nothing."""

    def call(_form, _out, target, *arguments):
        function(target, *arguments)
        return target

    return call, (IN_PLACE,)


def clip(form, out, array, low, high=None):
    return np.clip(array, low, high, out=array if form == IN_PLACE else out)


def axes(dim):
    return tuple(dim) if isinstance(dim, list) else dim


def reduction(function):
    """A reduction with axes, `keepdims` and perhaps a dtype."""

    def call(array, dim, keepdim, dtype=None, out=None):
        typed = {} if dtype is None else {"dtype": dtype}
        return function(array, axis=axes(dim), keepdims=keepdim, out=out, **typed)

    return with_out(call)


def position(function):
    return with_out(lambda array, dim, keepdim, out: function(array, axis=dim, keepdims=keepdim, out=out))


def spread(function):
    """A variance. Without a correction it is NumPy's own default, which is another than PyTorch's."""

    def call(array, dim, correction, keepdim, _unbiased, out):
        given = {} if correction is None else {"correction": correction}
        return function(array, axis=axes(dim), keepdims=keepdim, out=out, **given)

    return with_out(call)


def by_tensors(indices):
    return tuple(slice(None) if index is None else index for index in indices)


def index_put(array, indices, values, accumulate):
    if accumulate:
        np.add.at(array, by_tensors(indices), values)
    else:
        array[by_tensors(indices)] = values


def masked_fill(array, mask, value):
    np.copyto(array, value, where=mask)


def norm(array, order, dim, keepdim, _dtype):
    return np.linalg.vector_norm(array, axis=axes(dim), keepdims=keepdim, ord=order)


def closeness(function):
    return functional(lambda a, b, rtol, atol, nan: function(a, b, rtol=rtol, atol=atol, equal_nan=nan))


OPERATIONS = {
    "add": ufunc(np.add, operator.iadd),
    "sub": ufunc(np.subtract, operator.isub),
    "mul": ufunc(np.multiply, operator.imul),
    "div": ufunc(np.true_divide, operator.itruediv),
    "eq": ufunc(np.equal),
    "ne": ufunc(np.not_equal),
    "lt": ufunc(np.less),
    "le": ufunc(np.less_equal),
    "gt": ufunc(np.greater),
    "ge": ufunc(np.greater_equal),
    "maximum": ufunc(np.maximum),
    "minimum": ufunc(np.minimum),
    "fmax": ufunc(np.fmax),
    "fmin": ufunc(np.fmin),
    "bitwise_and": ufunc(np.bitwise_and, operator.iand),
    "bitwise_or": ufunc(np.bitwise_or, operator.ior),
    "bitwise_xor": ufunc(np.bitwise_xor, operator.ixor),
    "bitwise_left_shift": ufunc(np.left_shift, operator.ilshift),
    "bitwise_right_shift": ufunc(np.right_shift, operator.irshift),
    "gcd": ufunc(np.gcd),
    "lcm": ufunc(np.lcm),
    "logical_and": ufunc(np.logical_and),
    "logical_or": ufunc(np.logical_or),
    "logical_xor": ufunc(np.logical_xor),
    "floor_divide": ufunc(np.floor_divide, operator.ifloordiv),
    "remainder": ufunc(np.remainder, operator.imod),
    "fmod": ufunc(np.fmod),
    "hypot": ufunc(np.hypot),
    "pow": ufunc(np.power, operator.ipow),
    "float_power": ufunc(np.float_power),
    "atan2": ufunc(np.arctan2),
    "copysign": ufunc(np.copysign),
    "nextafter": ufunc(np.nextafter),
    "heaviside": ufunc(np.heaviside),
    "ldexp": ufunc(np.ldexp),
    "logaddexp": ufunc(np.logaddexp),
    "logaddexp2": ufunc(np.logaddexp2),
    "clamp": (clip, (FUNCTIONAL, IN_PLACE, OUT)),
    "where": functional(np.where),
    "isclose": closeness(np.isclose),
    "allclose": closeness(np.allclose),
    "equal": functional(np.array_equal),
    "copy": in_place(np.copyto),
    "fill": in_place(np.ndarray.fill),
    "masked_fill": in_place(masked_fill),
    "index_put": in_place(index_put),
    "broadcast_to": functional(np.broadcast_to),
    "expand": functional(np.broadcast_to),
    "expand_as": functional(lambda array, other: np.broadcast_to(array, other.shape)),
    "broadcast_tensors": functional(lambda arrays: list(np.broadcast_arrays(*arrays))),
    "broadcast_shapes": functional(lambda shapes: Sizes(np.broadcast_shapes(*map(axes, shapes)))),
    "unsqueeze": functional(np.expand_dims),
    "transpose": functional(np.swapaxes),
    "swapaxes": functional(np.swapaxes),
    "swapdims": functional(np.swapaxes),
    "permute": functional(np.transpose),
    "movedim": functional(np.moveaxis),
    "moveaxis": functional(np.moveaxis),
    "squeeze": functional(lambda array, dim: np.squeeze(array, axis=axes(dim))),
    "flatten": functional(lambda array, *_defaults: np.ravel(array)),
    "view": functional(lambda array, size: np.reshape(array, size, copy=False)),
    "reshape": functional(np.reshape),
    "index": functional(operator.getitem),
    "index.Tensor": functional(lambda array, indices: array[by_tensors(indices)]),
    "masked_select": functional(operator.getitem),
    "index_select": with_out(lambda array, dim, index, out: np.take(array, index, axis=dim, out=out)),
    "take_along_dim": functional(lambda array, index, dim: np.take_along_axis(array, index, axis=dim)),
    "clone": functional(np.copy),
    "contiguous": functional(np.ascontiguousarray),
    "item": functional(np.ndarray.item),
    "einsum": functional(lambda equation, arrays: np.einsum(equation, *arrays)),
    "matmul": with_out(np.matmul),
    "dot": with_out(np.dot),
    "vdot": functional(np.vdot),
    "outer": with_out(np.outer),
    "inner": functional(np.inner),
    "tensordot": functional(lambda left, right, *dims: np.tensordot(left, right, axes=dims)),
    "kron": functional(np.kron),
    "linalg_vecdot": functional(lambda left, right, dim: np.linalg.vecdot(left, right, axis=dim)),
    "linalg_cross": functional(lambda left, right, dim: np.linalg.cross(left, right, axis=dim)),
    "linalg_solve": functional(lambda left, right, _side: np.linalg.solve(left, right)),
    "linalg_vector_norm": functional(norm),
    "sum": reduction(np.sum),
    "nansum": reduction(np.nansum),
    "mean": reduction(np.mean),
    "prod": reduction(np.prod),
    "amax": reduction(np.max),
    "amin": reduction(np.min),
    "all": reduction(np.all),
    "any": reduction(np.any),
    "argmax": position(np.argmax),
    "argmin": position(np.argmin),
    "var": spread(np.var),
    "std": spread(np.std),
}

ARGUMENTS = {
    ("add", "alpha"): "NumPy's add has no factor",
    ("sub", "alpha"): "NumPy's subtract has no factor",
    ("div", "rounding_mode"): "NumPy's divide has no rounding mode",
    ("flatten", "start_dim"): "NumPy's ravel flattens all dimensions",
    ("flatten", "end_dim"): "NumPy's ravel flattens all dimensions",
    ("var", "unbiased"): "NumPy's var has no such switch",
    ("std", "unbiased"): "NumPy's std has no such switch",
    ("linalg_solve", "left"): "NumPy's solve has no such switch",
    ("linalg_vector_norm", "dtype"): "NumPy's vector_norm has no dtype",
}

REASONS = {
    IN_PLACE: "NumPy's function does not write to its operand",
    OUT: "NumPy's function has no out=",
    FUNCTIONAL: "NumPy only does it in place",
}

# Texts of exceptions, with the classes of what they refuse. The first that fits counts; a name before the colon limits
# it to an operation.
CLASSES = [
    (re.compile(pattern), kind)
    for pattern, kind in [
        (r": non-broadcastable output", "output-shape"),
        (r": (output parameter for reduction|output array does not match|Output array is the wrong shape)", "output-shape"),
        (r"^(broadcast_to|expand|expand_as): .*(cannot broadcast|could not be broadcast|more dimensions)", "expand"),
        (r"^(copy|fill): could not (be )?broadcast", "output-shape"),
        (r"must be non-negative|negative dimensions", "impossible-size"),
        (r"maximum (supported|allowed) (dimension|size)|too (big|large)|Unable to allocate", "impossible-size"),
        (r"^(matmul|linalg_solve|linalg_vecdot|dot|inner|tensordot|vdot): .*(mismatch|not aligned)", "product-shape"),
        (r"^(matmul|linalg_solve|linalg_vecdot|linalg_cross): .*(not have enough dimensions|must be)", "product-shape"),
        (r"Singular matrix", "singular"),
        (r"^einsum: (operand has|more operands|fewer operands|.* string contains too many)", "einsum-operand"),
        (r"^einsum: .*(einstein sum subscripts|subscript|ellipsis)", "einsum-equation"),
        (r"^einsum: ", "einsum-operand"),
        (r"broadcast|shape mismatch|has a mismatch in its core|boolean index did not match", "size-mismatch"),
        (r"Python integer .* out of bounds|too large to convert|cannot convert float|argument must be a", "argument"),
        (r"Integers to negative integer powers", "argument"),
        (r"out of bounds|too many indices|duplicate|repeated axis|axes don't match|index out of range", "dimension"),
        (r"cannot select an axis to squeeze|only one ellipsis|an index can only|number of dimensions", "dimension"),
        (r"attempt to get arg|zero-size array to reduction|non-empty take|with a sequence", "dimension"),
        (r"cannot reshape|can only specify one unknown|Unable to avoid (creating a )?copy", "view"),
        (r"Cannot cast|not supported for the input types|numpy boolean|unsupported|did not contain a loop", "dtype"),
        (r"must be (an|of) integer|arrays used as indices|not understood", "dtype"),
        (r"can only convert an array of size 1|only length-1|only 0-dimensional", "item-count"),
        (r"slice step cannot be zero", "argument"),
        (r"read-only", "overlap"),
    ]
]  # fmt: skip


def classify(error, op):
    """What kind of refusal an exception is."""
    text = f"{op}: {error}"
    for pattern, kind in CLASSES:
        if pattern.search(text):
            return kind
    if isinstance(error, MemoryError):
        return "impossible-size"
    return "argument" if isinstance(error, OverflowError) else None


def make(dtype, shape, data, _requires_grad):
    return np.frombuffer(data, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)


def owner(array):
    """The array at the end of the chain of views, which has the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def read(array):
    array = np.asarray(array)
    root = owner(array)
    address = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    small = array.size * array.itemsize <= VALUE_LIMIT
    data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() if small else b""
    strides = [stride // array.itemsize for stride in array.strides]
    return Reply(array.dtype.name, list(array.shape), data, strides, (id(root), address // array.itemsize))


def arrays(function):
    """NumPy gives scalars where PyTorch gives tensors of no dimensions."""

    def call(*arguments):
        result = function(*arguments)
        return np.asarray(result) if isinstance(result, np.generic) else result

    return call


def library():
    """NumPy, whichever this Python has."""
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    lacks = [
        {"op": name, "form": form, "why": REASONS[form]}
        for name, (_, forms) in OPERATIONS.items()
        for form in (FUNCTIONAL, IN_PLACE, OUT)
        if form not in forms
    ]
    lacks += [{"op": op, "argument": argument, "why": why} for (op, argument), why in ARGUMENTS.items()]
    lacks.append({"dtype": "bfloat16", "why": "NumPy has no such dtype"})
    return Library(
        name="numpy",
        version=np.__version__,
        build=f"Python {platform.python_version()} on {sys.platform} {platform.machine()}",
        dtypes=DTYPES,
        ops={name: arrays(function) for name, (function, _) in OPERATIONS.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, np.ndarray),
        classify=classify,
        # Strides and storages are told and not judged: which ones a result has is no portable matter.
        capabilities=["in_place", "out"],
        lacks=lacks,
    )
