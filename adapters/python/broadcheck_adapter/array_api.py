"""The functions of libraries that have NumPy's names or those of the array API standard, by operation.

Each function takes the namespace of such a library, such as `numpy` or `jax.numpy`, and returns its functions. What the
namespace lacks is left out. What a library calls otherwise, or gives more forms, its adapter says.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from .library import Sizes
from .numpy_like import axes, closeness, norm, reduction, spread, truth

Function = Callable[..., Any]
Functions = dict[str, Function]

ELEMENTWISE: Final = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "true_divide",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "maximum": "maximum",
    "minimum": "minimum",
    "fmax": "fmax",
    "fmin": "fmin",
    "bitwise_and": "bitwise_and",
    "bitwise_or": "bitwise_or",
    "bitwise_xor": "bitwise_xor",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "gcd": "gcd",
    "lcm": "lcm",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "logical_xor": "logical_xor",
    "floor_divide": "floor_divide",
    "remainder": "remainder",
    "fmod": "fmod",
    "hypot": "hypot",
    "pow": "power",
    "float_power": "float_power",
    "atan2": "arctan2",
    "copysign": "copysign",
    "nextafter": "nextafter",
    "heaviside": "heaviside",
    "ldexp": "ldexp",
    "logaddexp": "logaddexp",
    "logaddexp2": "logaddexp2",
}
"""NumPy's names of the functions of two operands."""

STANDARD: Final = {
    "true_divide": "divide",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "power": "pow",
    "arctan2": "atan2",
}
"""What the array API standard calls them, where it has another name."""

OPERATORS: Final[Mapping[str, Function]] = {
    "add": operator.iadd,
    "sub": operator.isub,
    "mul": operator.imul,
    "div": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "pow": operator.ipow,
    "bitwise_and": operator.iand,
    "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor,
    "bitwise_left_shift": operator.ilshift,
    "bitwise_right_shift": operator.irshift,
}
"""The operators that write to their first operand."""

REDUCTIONS: Final = {
    "sum": "sum",
    "nansum": "nansum",
    "mean": "mean",
    "prod": "prod",
    "amax": "max",
    "amin": "min",
    "all": "all",
    "any": "any",
    "argmax": "argmax",
    "argmin": "argmin",
}
"""The names of the reductions."""

SPREADS: Final = {"var": "var", "std": "std"}
"""The names of the variance and the standard deviation."""


def functions(namespace: Any, names: Mapping[str, str]) -> Functions:
    """Returns the functions of these names, by operation."""
    found = {op: getattr(namespace, name, None) for op, name in names.items()}
    standard = {op: getattr(namespace, STANDARD.get(name, name), None) for op, name in names.items()}
    either = {op: standard[op] if function is None else function for op, function in found.items()}
    return {op: function for op, function in either.items() if function is not None}


def elementwise(namespace: Any) -> Functions:
    """Returns the functions of two operands."""
    return functions(namespace, ELEMENTWISE)


def reductions(
    namespace: Any,
    keepdims: str = "keepdims",
    correction: str = "correction",
    dtypes: Callable[[str], Any] = str,
) -> Functions:
    """Returns the reductions. `numpy_like.reduction` and `numpy_like.spread` explain the parameters."""
    folds = {op: reduction(each, keepdims, dtypes) for op, each in functions(namespace, REDUCTIONS).items()}
    return folds | {op: spread(each, keepdims, correction) for op, each in functions(namespace, SPREADS).items()}


def comparisons(namespace: Any) -> Functions:
    """Returns the comparisons of whole arrays, and those with tolerances."""
    found = functions(namespace, {name: name for name in ("isclose", "allclose")})
    found = {op: closeness(function) for op, function in found.items()}
    whole = found | functions(namespace, {"equal": "array_equal"})
    return {op: function if op == "isclose" else truth(function) for op, function in whole.items()}


def shapes(namespace: Any) -> Functions:
    """Returns what changes the shape of an array and none of its elements."""
    xp = namespace
    found = {
        "expand": xp.broadcast_to,
        "expand_as": lambda array, other: xp.broadcast_to(array, other.shape),
        "broadcast_to": xp.broadcast_to,
        "unsqueeze": xp.expand_dims,
        "transpose": xp.swapaxes,
        "swapaxes": xp.swapaxes,
        "swapdims": xp.swapaxes,
        "permute": xp.transpose,
        "movedim": xp.moveaxis,
        "moveaxis": xp.moveaxis,
        "squeeze": lambda array, dim: xp.squeeze(array, axis=axes(dim)),
        "reshape": xp.reshape,
    }
    if hasattr(xp, "broadcast_arrays"):
        found["broadcast_tensors"] = lambda arrays: list(xp.broadcast_arrays(*arrays))
    if hasattr(xp, "broadcast_shapes"):
        found["broadcast_shapes"] = lambda shapes: Sizes(xp.broadcast_shapes(*map(axes, shapes)))
    return found


def indexing(namespace: Any) -> Functions:
    """Returns what takes elements by a key, a mask or indices. `index_select` also takes `out=`."""
    xp = namespace
    found: Functions = {
        "index": operator.getitem,
        "masked_select": operator.getitem,
        "index_select": lambda array, dim, index, **out: xp.take(array, index, axis=dim, **out),
    }
    if hasattr(xp, "take_along_axis"):
        found["take_along_dim"] = lambda array, index, dim: xp.take_along_axis(array, index, axis=dim)
    return found


def products(namespace: Any) -> Functions:
    """Returns products of vectors and matrices, and what `linalg` has."""
    xp, linalg = namespace, getattr(namespace, "linalg", namespace)
    names = ("matmul", "dot", "vdot", "outer", "inner", "kron")
    found = functions(xp, {name: name for name in names}) | {
        "einsum": lambda equation, arrays: xp.einsum(equation, *arrays),
        "tensordot": lambda left, right, *dims: xp.tensordot(left, right, axes=dims),
        "linalg_solve": lambda left, right, _side: linalg.solve(left, right),
    }
    if hasattr(linalg, "cross"):
        found["linalg_cross"] = lambda left, right, dim: linalg.cross(left, right, axis=dim)
    if hasattr(linalg, "vecdot"):
        found["linalg_vecdot"] = lambda left, right, dim: linalg.vecdot(left, right, axis=dim)
    if hasattr(linalg, "vector_norm"):
        found["linalg_vector_norm"] = norm(linalg.vector_norm)
    return found


def usual_arguments(owner: str, operations: Iterable[str], sub: str = "subtract") -> dict[tuple[str, str], str]:
    """Returns the arguments of PyTorch that such libraries lack, each with its reason, for the operations that there are.
    `owner` is the library in the genitive."""
    lacking = {
        ("add", "alpha"): f"{owner} add has no factor",
        ("sub", "alpha"): f"{owner} {sub} has no factor",
        ("div", "rounding_mode"): f"{owner} divide has no rounding mode",
        ("var", "unbiased"): f"{owner} var has no such switch",
        ("std", "unbiased"): f"{owner} std has no such switch",
        ("linalg_solve", "left"): f"{owner} solve has no such switch",
        ("linalg_vector_norm", "dtype"): f"{owner} vector_norm has no dtype",
    }
    there = set(operations)
    return {argument: why for argument, why in lacking.items() if argument[0] in there}
