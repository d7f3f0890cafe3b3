"""The operation table, as far as the array API standard has it: array-api-strict rejects what the standard leaves open.

An operation is a function of the standard and nothing made of several. Numbers are arguments where the standard lets
them be.
"""

import warnings

import array_api_strict as xp
import numpy as np

from broadcheck_adapter import Library, Sizes, array_api, arrays, classifier, interpreter
from broadcheck_adapter.numpy_like import axes
from broadcheck_adapter.operation import IN_PLACE, binary, lacking_arguments, lacking_forms, table

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128"]


def dtypes(name):
    return getattr(xp, name)


def item(array):
    kind = {"bool": bool, "i": int, "u": int, "f": float, "c": complex}
    return kind[str(array.dtype).rsplit(".")[-1] if array.dtype == xp.bool else np.asarray(array).dtype.kind](array)


OPERATIONS = {
    **{op: binary(function, array_api.OPERATORS.get(op)) for op, function in array_api.elementwise(xp).items()},
    **array_api.reductions(xp, dtypes=dtypes),
    **array_api.indexing(xp),
    "clamp": xp.clip,
    "where": xp.where,
    "expand": lambda array, size: xp.broadcast_to(array, tuple(size)),
    "broadcast_to": lambda array, size: xp.broadcast_to(array, tuple(size)),
    "broadcast_tensors": lambda arrays: list(xp.broadcast_arrays(*arrays)),
    "broadcast_shapes": lambda shapes: Sizes(xp.broadcast_shapes(*map(axes, shapes))),
    "unsqueeze": lambda array, dim: xp.expand_dims(array, axis=dim),
    "permute": lambda array, dims: xp.permute_dims(array, tuple(dims)),
    "movedim": xp.moveaxis,
    "moveaxis": xp.moveaxis,
    "squeeze": lambda array, dim: xp.squeeze(array, axis=axes(dim)),
    "reshape": lambda array, size: xp.reshape(array, tuple(size)),
    "view": lambda array, size: xp.reshape(array, tuple(size), copy=False),
    "clone": lambda array: xp.asarray(array, copy=True),
    "item": item,
    "matmul": xp.matmul,
    "outer": xp.linalg.outer,
    "tensordot": lambda left, right, *dims: xp.tensordot(left, right, axes=tuple(map(tuple, dims))),
    "linalg_vecdot": lambda left, right, dim: xp.vecdot(left, right, axis=dim),
    "linalg_cross": lambda left, right, dim: xp.linalg.cross(left, right, axis=dim),
    "linalg_solve": lambda left, right, _side: xp.linalg.solve(left, right),
}

ARGUMENTS = {
    ("mean", "dtype"): "the standard's mean has no dtype",
} | array_api.usual_arguments("the standard's", OPERATIONS)

REASONS = {IN_PLACE: "the standard has no such operator"}

CLASSES = [
    (r"non-broadcastable output|would be changed|shape of the left-hand", "output-shape"),
    (r"^(broadcast_to|expand): .*(cannot broadcast|could not be broadcast|more dimensions)", "expand"),
    (r"must be non-negative|negative dimensions", "impossible-size"),
    (r"maximum (supported|allowed) (dimension|size)|too (big|large)|Unable to allocate", "impossible-size"),
    (r"^(matmul|linalg_solve|linalg_vecdot|tensordot): .*(mismatch|not aligned|equal)", "product-shape"),
    (r"axis must be negative in vecdot", "dimension"),
    (r"^(matmul|outer|linalg_\w+): .*(not have enough dimensions|must be|must have|1-dim)", "product-shape"),
    (r"Singular matrix", "singular"),
    (r"broadcast|shape mismatch|boolean index did not match", "size-mismatch"),
    (r"Python integer .* out of bounds|within the bounds of the dtype", "argument"),
    (r"incompatible dimensions for cross", "product-shape"),
    (r"[Dd]types? .*(allowed|promote|cannot)|cannot be type promoted|not supported", "dtype"),
    (r"integer dtype|Cannot cast|Only .* dtypes", "dtype"),
    (r"Python .* scalars can only be promoted|[Ee]xpected .* dtype|must be", "dtype"),
    (r"cannot reshape|can only specify one unknown|Incompatible shape|Unable to avoid", "view"),
    (r"read-only", "overlap"),
    (r"is only allowed on arrays with 0", "item-count"),
    (r"out of bounds|too many indices|duplicate|repeated axis|axes don't match|out of range", "dimension"),
    (r"cannot select an axis to squeeze|[Aa]xis|number of dimensions", "dimension"),
    (r"attempt to get arg|zero-size array to reduction|non-empty take", "dimension"),
    (r"only 0-dim|only length-1|single-element", "item-count"),
    (r"Integers to negative|slice step", "argument"),
]


def make(dtype, shape, data, _requires_grad):
    return xp.asarray(arrays.make(dtype, shape, data), copy=True)


def read(array):
    return arrays.reply(np.asarray(array))


def library():
    """array-api-strict, whichever this Python has."""
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    missing = [{"dtype": dtype, "why": "the standard has no such dtype"} for dtype in ("float16", "bfloat16")]
    missing.append({"form": "out", "why": "the standard has no out="})
    operations = table(OPERATIONS)
    return Library(
        name="array-api-strict",
        version=xp.__version__,
        build=f"standard {xp.__array_api_version__}; NumPy {np.__version__}; {interpreter()}",
        dtypes=DTYPES,
        ops=operations,
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, type(xp.asarray(0))),
        classify=classifier(CLASSES),
        capabilities=["in_place"],
        lacks=[*lacking_forms(operations, REASONS), *lacking_arguments(ARGUMENTS), *missing],
        # reshape without a copy raises an AttributeError where it cannot be had.
        mistakes=(NameError, KeyError, AssertionError, ImportError),
    )
