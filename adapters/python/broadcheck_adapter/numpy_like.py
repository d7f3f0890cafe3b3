"""Calls of functions that take NumPy's parameters, with the arguments of the operation table, and NumPy's rejections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from .rejection import RejectionClass

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


REJECTIONS: Final[list[tuple[str, RejectionClass]]] = [
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
"""Texts of NumPy's exceptions, with their classes of rejections, as `classifier` takes them. The first that fits counts;
a name before the colon limits it to an operation."""
