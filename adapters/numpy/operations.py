"""The operation table, as far as NumPy has it, and NumPy's arrays as the protocol sees them.

An operation is a function of NumPy and nothing made of several: what NumPy does not have is not put together here.
Numbers stay Python's, so that NumPy promotes them as it does for its users.
"""

import operator
import warnings
from dataclasses import replace

import numpy as np

from broadcheck_adapter import Library, array_api, classifier, interpreter
from broadcheck_adapter.arrays import make, reply
from broadcheck_adapter.numpy_like import by_tensors
from broadcheck_adapter.operation import (
    FUNCTIONAL, IN_PLACE, OUT, Operation, assigning, in_place, lacking_arguments, lacking_forms, of_two, table,
    with_out,
)  # fmt: skip

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip


def ufunc(function, operator=None):
    """A universal function of two operands. With an operator such as `+=`, in place is that operator."""
    plain = of_two(function)
    operated = of_two(assigning(operator)) if operator else lambda left, right, *given: plain(left, right, out=left)
    return Operation(plain, operated, plain)


def clip(array, low, high=None, out=None):
    return np.clip(array, low, high, out=out)


def index_put(array, indices, values, accumulate):
    if accumulate:
        np.add.at(array, by_tensors(indices), values)
    else:
        array[by_tensors(indices)] = values


def masked_fill(array, mask, value):
    np.copyto(array, value, where=mask)


PRODUCTS = array_api.products(np)

OPERATIONS = {
    **{op: ufunc(function, array_api.OPERATORS.get(op)) for op, function in array_api.elementwise(np).items()},
    **{op: with_out(function) for op, function in array_api.reductions(np).items()},
    **array_api.comparisons(np),
    **array_api.shapes(np),
    **array_api.indexing(np),
    **PRODUCTS,
    **{op: with_out(PRODUCTS[op]) for op in ("matmul", "dot", "outer")},
    "clamp": Operation(clip, lambda array, *bounds: clip(array, *bounds, out=array), clip),
    "where": np.where,
    "copy": in_place(np.copyto),
    "fill": in_place(np.ndarray.fill),
    "masked_fill": in_place(masked_fill),
    "index_put": in_place(index_put),
    "flatten": lambda array, *_defaults: np.ravel(array),
    "view": lambda array, size: np.reshape(array, size, copy=False),
    "index.Tensor": lambda array, indices: array[by_tensors(indices)],
    "index_select": with_out(array_api.indexing(np)["index_select"]),
    "clone": np.copy,
    "contiguous": np.ascontiguousarray,
    "item": np.ndarray.item,
}

ARGUMENTS = {
    ("flatten", "start_dim"): "NumPy's ravel flattens all dimensions",
    ("flatten", "end_dim"): "NumPy's ravel flattens all dimensions",
} | array_api.usual_arguments("NumPy's", OPERATIONS)

REASONS = {
    IN_PLACE: "NumPy's function does not write to its operand",
    OUT: "NumPy's function has no out=",
    FUNCTIONAL: "NumPy only does it in place",
}

# Texts of exceptions, with their classes of rejections. The first that fits counts; a name before the colon limits
# it to an operation.
CLASSES = [
    (r"^broadcast_shapes: .*(sequence of integers|cannot be interpreted as an integer)", "argument"),
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

by_text = classifier(CLASSES)


def classify(error, op):
    """Returns the class of an exception."""
    kinds = {MemoryError: "impossible-size", OverflowError: "argument"}
    return by_text(error, op) or next((kind for of, kind in kinds.items() if isinstance(error, of)), None)


def owner(array):
    """The array at the end of the chain of views, which has the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def read(array):
    array = np.asarray(array)
    root = owner(array)
    address = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    strides = [stride // array.itemsize for stride in array.strides]
    return replace(reply(array), strides=strides, storage=(id(root), address // array.itemsize))


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
    operations = table(OPERATIONS)
    return Library(
        name="numpy",
        version=np.__version__,
        build=interpreter(),
        dtypes=DTYPES,
        ops={name: arrays(operation) for name, operation in operations.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, np.ndarray),
        classify=classify,
        # Strides and storages are reported and not judged: they are not portable.
        capabilities=["in_place", "out"],
        lacks=[
            *lacking_forms(operations, REASONS),
            *lacking_arguments(ARGUMENTS),
            {"dtype": "bfloat16", "why": "NumPy has no such dtype"},
        ],
    )
