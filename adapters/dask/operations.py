"""The operation table, as far as dask.array has it. Inputs are cut into chunks, so that operands whose chunks differ are
rechunked and broadcast chunk by chunk.

An operation is a function of `dask.array` and nothing made of several. Its result is computed right away, and keeps its
chunks: an error of a chunk belongs to the step that made it.
"""

import warnings

import dask
import dask.array as da
import numpy as np

from broadcheck_adapter import Library, Rejection, array_api, arrays, classifier, interpreter
from broadcheck_adapter.numpy_like import REJECTIONS, by_tensors, norm
from broadcheck_adapter.operation import (
    FUNCTIONAL, IN_PLACE, OUT, changing, in_place, lacking_arguments, lacking_forms, of_two, table,
)  # fmt: skip

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

# The least length of a chunk, the most chunks along a dimension, and the number of dimensions that are cut.
CHUNK, MOST, CUT = 2, 8, 4


def assign(array, key, values):
    array[key] = values


OPERATIONS = table(
    {
        **{op: of_two(function) for op, function in array_api.elementwise(da).items()},
        **array_api.reductions(da, correction="ddof"),
        **array_api.comparisons(da),
        **array_api.shapes(da),
        **array_api.indexing(da),
        **array_api.products(da),
        "clamp": da.clip,
        "where": da.where,
        "flatten": lambda array, *_defaults: da.ravel(array),
        "index.Tensor": lambda array, indices: array[by_tensors(indices)],
        "index_put": in_place(lambda array, indices, values, _accumulate: assign(array, by_tensors(indices), values)),
        "masked_fill": in_place(assign),
        "clone": da.Array.copy,
        "item": lambda array: array.compute().item(),
        "linalg_vector_norm": norm(da.linalg.norm),
    }
)

ARGUMENTS = {
    ("flatten", "start_dim"): "dask's ravel flattens all dimensions",
    ("flatten", "end_dim"): "dask's ravel flattens all dimensions",
    ("index_put", "accumulate"): "dask's assignment does not accumulate",
} | array_api.usual_arguments("dask's", OPERATIONS)

REASONS = {
    IN_PLACE: "dask's arrays do not change, except by assignment",
    OUT: "dask's out= renames an array and writes to no memory",
    FUNCTIONAL: "dask only does it in place",
}

CLASSES = [
    (r"^reshape: \s*(Dask's reshape only|total size of|Bad index|division by zero)", "view"),
    (r"^einsum: .*(Number of einsum subscripts|Chunks do not add up|Shapes do not align)", "einsum-operand"),
    (r"^einsum: .*(Output character|Repeated elements|Invalid Ellipses)", "einsum-equation"),
    (r"^einsum: .*(not a valid symbol|only contain one)", "einsum-equation"),
    # matmul has one text for inner sizes and for batches.
    (r"^(dot|vdot|inner|tensordot|linalg_solve): .*Chunks do not add up", "product-shape"),
    (r"^(dot|vdot|inner|matmul): .*(list index out of range|does not support scalars)", "product-shape"),
    (r"^linalg_solve: .*(Dimension must be 2|must be 1 or 2 dimensional)", "product-shape"),
    (r"singular matrix", "singular"),
    (r"Unknown dimension|Repeated elements|Too many indices|cannot squeeze axis|array of ints only", "dimension"),
    (r"Parameters of such types", "dtype"),
    (r"Chunks do not add up|[Ss]hapes? .*(do not|don't|not) (align|match)", "size-mismatch"),
    (r"boolean index shape|dask.array of bools only", "size-mismatch"),
    # A mask does not fit a chunk: dask replaces the error of NumPy's index.
    (r"^masked_select: Array chunk size or shape is unknown", "size-mismatch"),
    *REJECTIONS,
]


def make(dtype, shape, data, _requires_grad=False):
    chunks = [max(CHUNK, -(-size // MOST)) if at < CUT else -1 for at, size in enumerate(shape)]
    return da.from_array(arrays.make(dtype, shape, data), chunks=chunks)


def read(array):
    return arrays.reply(np.asarray(array.compute()))


def computed(result):
    """A result whose chunks are there. Where only the elements tell how large a chunk is, it is asked for its size."""
    if isinstance(result, list):
        return [computed(each) for each in result]
    if result is NotImplemented:
        # A function of NumPy's raised while dask asked it for the dtype of the result.
        raise Rejection("the function returns NotImplemented", "dtype")
    if not isinstance(result, da.Array):
        return da.asarray(result) if isinstance(result, (np.generic, np.ndarray)) else result
    there = result.persist()
    return there.compute_chunk_sizes() if np.isnan(there.shape).any() else there


def become(array, other):
    """Makes an array another one, as an assignment does."""
    array._meta, array.dask, array._name, array._chunks = other._meta, other.dask, other.name, other.chunks


def computing(operation):
    def call(form, out, *arguments):
        if form != IN_PLACE:
            return computed(operation(form, out, *arguments))
        target = arguments[0]
        before = target.copy()
        try:
            operation(form, out, *arguments)
            become(target, target.persist())
        except Exception:
            become(target, before)
            raise
        return target

    return call


def library():
    """dask.array, whichever this Python has."""
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    dask.config.set(scheduler="synchronous")
    return Library(
        name="dask",
        version=dask.__version__,
        build=f"chunks of {CHUNK} elements along each of {CUT} dimensions; NumPy {np.__version__}; {interpreter()}",
        dtypes=DTYPES,
        ops={name: computing(operation) for name, operation in OPERATIONS.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, da.Array),
        classify=classifier(CLASSES),
        capabilities=["in_place"],
        lacks=[
            *lacking_forms(OPERATIONS, REASONS),
            *lacking_arguments(ARGUMENTS),
            {"dtype": "bfloat16", "why": "NumPy has no such dtype"},
        ],
        # Some arguments are rejected by assertions.
        mistakes=(NameError, KeyError, ImportError),
    )
