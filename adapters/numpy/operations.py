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
from broadcheck_adapter.numpy_like import REJECTIONS, by_tensors
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

by_text = classifier(REJECTIONS)


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
