"""The operation table, as far as `keras.ops` has it. Keras has one rule of promotion for all backends, which is JAX's with
32 bits, and its functions return new tensors: there is nothing in place and no `out=`.

An operation is a function of `keras.ops` and nothing made of several. Numbers stay Python's.
"""

import warnings

import keras
import numpy as np
from keras import ops

from broadcheck_adapter import Library, array_api, arrays, classifier, interpreter
from broadcheck_adapter.numpy_like import REJECTIONS, axes, reduction
from broadcheck_adapter.operation import lacking_arguments, of_two

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "float16", "float32", "complex64"]
WIDE = ["int64", "float64", "complex128"]

OPERATIONS = {
    **{name: of_two(function) for name, function in array_api.elementwise(ops).items()},
    **{op: reduction(function) for op, function in array_api.functions(ops, array_api.REDUCTIONS).items()},
    **array_api.comparisons(ops),
    **array_api.shapes(ops),
    **array_api.indexing(ops),
    **array_api.products(ops),
    "clamp": ops.clip,
    "where": ops.where,
    "flatten": lambda tensor, *_defaults: ops.ravel(tensor),
    "clone": ops.copy,
    "item": lambda tensor: ops.convert_to_numpy(tensor).item(),
    "var": lambda tensor, dim, _correction, keepdim, _unbiased: ops.var(tensor, axes(dim), keepdim),
    "std": lambda tensor, dim, _correction, keepdim, _unbiased: ops.std(tensor, axes(dim), keepdim),
    "logsumexp": reduction(ops.logsumexp),
    "linalg_vector_norm": lambda tensor, order, dim, keepdim, _dtype: ops.norm(tensor, order, axes(dim), keepdim),
    "linalg_solve": lambda left, right, _side: ops.solve(left, right),
    "linalg_cross": lambda left, right, dim: ops.cross(left, right, axis=dim),
}

ARGUMENTS = {
    ("flatten", "start_dim"): "Keras's ravel flattens all dimensions",
    ("flatten", "end_dim"): "Keras's ravel flattens all dimensions",
    **{(op, "correction"): f"Keras's {op} has no correction" for op in ("var", "std")},
    **{(op, "dtype"): f"Keras's {op} has no dtype" for op in ("sum", "mean", "nansum")},
} | array_api.usual_arguments("Keras's", OPERATIONS)

CLASSES = [
    (r"^(expand|expand_as|broadcast_to): .*(ncompatible|annot broadcast)", "expand"),
    (r"must have the same|Received: .*shape|ncompatible shapes", "size-mismatch"),
    *REJECTIONS,
]


def make(dtype, shape, data, _requires_grad=False):
    return ops.convert_to_tensor(arrays.make(dtype, shape, data))


def read(tensor):
    return arrays.reply(np.asarray(ops.convert_to_numpy(tensor)))


def functional(function):
    """NumPy, as the backend, gives scalars where the other backends give tensors of no dimensions."""

    def call(_form, _out, *arguments):
        result = function(*arguments)
        return np.asarray(result) if isinstance(result, np.generic) else result

    return call


def library():
    """Keras, whichever this Python has."""
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    immutable = "Keras's functions return new tensors"
    return Library(
        name="keras",
        version=keras.__version__,
        build=f"backend {keras.backend.backend()}; NumPy {np.__version__}; {interpreter()}",
        dtypes=DTYPES,
        ops={name: functional(function) for name, function in OPERATIONS.items()},
        make=make,
        read=read,
        is_tensor=ops.is_tensor,
        classify=classifier(CLASSES),
        lacks=[
            *lacking_arguments(ARGUMENTS),
            *({"form": form, "why": immutable} for form in ("in_place", "out")),
            *({"dtype": dtype, "why": "Keras promotes to 32 bits, as JAX does"} for dtype in WIDE),
            {"dtype": "bfloat16", "why": "NumPy, the backend, has no such dtype"},
        ],
        mistakes=(NameError, KeyError, ImportError),
    )
