"""Calls of functions that take NumPy's parameters, with the arguments of the operation table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Function = Callable[..., Any]


def axes(dim: Any) -> Any:
    """Returns `dim` as NumPy's `axis`: one axis, a tuple, or None for all."""
    return tuple(dim) if isinstance(dim, list) else dim


def by_tensors(indices: Sequence[Any]) -> tuple[Any, ...]:
    """Returns what stands between the brackets, with a whole dimension where the index is missing."""
    return tuple(slice(None) if index is None else index for index in indices)


def reduction(function: Function, keepdims: str = "keepdims", dtypes: Callable[[str], Any] = str) -> Function:
    """Calls a reduction along axes. `keepdims` is the function's name for that parameter, `dtypes` makes a dtype of its
    name."""

    def call(array: Any, dim: Any, keepdim: bool, dtype: str | None = None, **out: Any) -> Any:
        typed = {} if dtype is None else {"dtype": dtypes(dtype)}
        return function(array, axis=axes(dim), **{keepdims: keepdim}, **typed, **out)

    return call


def spread(function: Function, keepdims: str = "keepdims", correction: str = "correction") -> Function:
    """Calls a variance or a standard deviation. Where the program gives no correction, the library's own default holds,
    which may differ from PyTorch's."""

    def call(array: Any, dim: Any, given: Any, keepdim: bool, _unbiased: Any, **out: Any) -> Any:
        corrected = {} if given is None else {correction: given}
        return function(array, axis=axes(dim), **{keepdims: keepdim}, **corrected, **out)

    return call


def closeness(function: Function) -> Function:
    """Calls a comparison with tolerances, such as `isclose`."""
    return lambda a, b, rtol, atol, nan: function(a, b, rtol=rtol, atol=atol, equal_nan=nan)


def truth(function: Function) -> Function:
    """Calls a function that returns an array of no dimensions where PyTorch returns a bool."""
    return lambda *arguments: bool(function(*arguments))


def norm(function: Function) -> Function:
    """Calls a vector norm. Its dtype keeps its default."""
    return lambda array, order, dim, keepdim, _dtype: function(array, axis=axes(dim), keepdims=keepdim, ord=order)
