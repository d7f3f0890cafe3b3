"""The operation table, as far as CuPy has it, and CuPy's arrays as the protocol sees them.

An operation is a function of CuPy and nothing made of several. Numbers stay Python's, so that CuPy promotes them as it
does for its users. Each call is waited for, so that an error of a kernel belongs to its call.
"""

import functools
import warnings

import cupy as cp

from broadcheck_adapter import Library, array_api, arrays, classifier, interpreter
from broadcheck_adapter.numpy_like import REJECTIONS, by_tensors, norm
from broadcheck_adapter.operation import (
    FUNCTIONAL, IN_PLACE, OUT, Operation, assigning, in_place, lacking_arguments, lacking_forms, of_two, table,
    with_out,
)  # fmt: skip
from broadcheck_adapter.worker import CannotRun, Lost

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip



def elementwise(function, operator=None):
    """A universal function of two operands. With an operator such as `+=`, in place is that operator."""
    plain = of_two(function)
    if not isinstance(function, cp.ufunc):
        return Operation(plain)
    operated = of_two(assigning(operator)) if operator else lambda left, right, *given: plain(left, right, out=left)
    return Operation(plain, operated, plain)


def clip(array, low, high=None, out=None):
    return cp.clip(array, low, high, out=out)


def assign(array, key, values):
    array[key] = values


def index_put(array, indices, values, accumulate):
    if accumulate:
        cp.add.at(array, by_tensors(indices), values)
    else:
        assign(array, by_tensors(indices), values)


PRODUCTS = array_api.products(cp)

OPERATIONS = {
    **{op: elementwise(function, array_api.OPERATORS.get(op)) for op, function in array_api.elementwise(cp).items()},
    **{op: with_out(function) for op, function in array_api.reductions(cp, correction="ddof").items()},
    **array_api.comparisons(cp),
    **array_api.shapes(cp),
    **array_api.indexing(cp),
    **PRODUCTS,
    **{op: with_out(PRODUCTS[op]) for op in ("matmul", "dot", "outer")},
    "clamp": Operation(clip, lambda array, *bounds: clip(array, *bounds, out=array), clip),
    "where": cp.where,
    "copy": in_place(cp.copyto),
    "fill": in_place(cp.ndarray.fill),
    "masked_fill": in_place(assign),
    "index_put": in_place(index_put),
    "flatten": lambda array, *_defaults: cp.ravel(array),
    "view": lambda array, size: cp.reshape(array, size, copy=False),
    "index.Tensor": lambda array, indices: array[by_tensors(indices)],
    "index_select": with_out(array_api.indexing(cp)["index_select"]),
    "clone": cp.copy,
    "contiguous": cp.ascontiguousarray,
    "item": cp.ndarray.item,
    "linalg_vector_norm": norm(cp.linalg.norm),
}

ARGUMENTS = {
    ("flatten", "start_dim"): "CuPy's ravel flattens all dimensions",
    ("flatten", "end_dim"): "CuPy's ravel flattens all dimensions",
} | array_api.usual_arguments("CuPy's", OPERATIONS)

REASONS = {
    IN_PLACE: "CuPy's function does not write to its operand",
    OUT: "CuPy's function has no out=",
    FUNCTIONAL: "CuPy only does it in place",
}

CLASSES = [
    *REJECTIONS,
]


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0]


def device():
    """The GPU that CuPy computes on, in words."""
    try:
        assert int(cp.ones(1).sum()) == 1
    except Exception as error:
        raise CannotRun(f"CuPy {cp.__version__} cannot compute here: {first_line(error)}") from error
    properties = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    return f"{properties['name'].decode()}, compute capability {properties['major']}.{properties['minor']}"


def is_lost():
    """Whether the device is useless for this process, as after an assertion of a kernel."""
    try:
        return int(cp.ones(1).sum()) != 1
    except Exception:
        return True


def guarded(operation):
    """Calls the operation and waits until the device is done. What makes the device useless is `Lost`."""

    @functools.wraps(operation)
    def call(*given):
        try:
            result = operation(*given)
            cp.cuda.runtime.deviceSynchronize()
        except Exception as error:
            if is_lost():
                raise Lost(f"no call succeeds on the device after this: {first_line(error)}") from error
            raise
        # CuPy gives NumPy's scalars or bools where some functions return no array.
        return cp.asarray(result) if hasattr(result, "dtype") and not isinstance(result, cp.ndarray) else result

    return call


def make(dtype, shape, data, _requires_grad=False):
    return cp.asarray(arrays.make(dtype, shape, data))


def read(array):
    return arrays.reply(cp.asnumpy(array))


def library():
    """CuPy, whichever this Python has, on the GPU that it finds."""
    warnings.simplefilter("ignore")
    build = f"{device()}; {interpreter()}"
    operations = table(OPERATIONS)
    return Library(
        name="cupy",
        version=cp.__version__,
        build=build,
        dtypes=DTYPES,
        ops={name: guarded(operation) for name, operation in operations.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, cp.ndarray),
        classify=classifier(CLASSES),
        capabilities=["in_place", "out"],
        lacks=[
            *lacking_forms(operations, REASONS),
            *lacking_arguments(ARGUMENTS),
            {"dtype": "bfloat16", "why": "NumPy has no such dtype, and CuPy takes it from another package"},
        ],
    )
