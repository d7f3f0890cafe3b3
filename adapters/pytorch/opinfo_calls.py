"""A call of a function of PyTorch as arguments of a row of the operation table.

A sample of an OpInfo is run under a mode that stops at the first function that is a row of the table, with the arguments
that the OpInfo gave it. So it makes no difference whether the OpInfo names the function or wraps it in a lambda.
"""

import numbers
from dataclasses import dataclass

import torch
from torch.overrides import TorchFunctionMode

from table import OPERATIONS
from tensors import DTYPES

ROWS = {row["name"]: row for row in OPERATIONS}
ROW_OF = {alias["name"]: name for name, row in ROWS.items() for alias in row.get("aliases", [])}

# The methods behind operators of Python, with the row, and whether the operands are swapped.
OPERATORS = {
    "__radd__": ("add", False), "__rmul__": ("mul", False), "__rsub__": ("rsub", False), "__rand__": ("bitwise_and", False),
    "__ror__": ("bitwise_or", False), "__rxor__": ("bitwise_xor", False), "__rmatmul__": ("matmul", True),
    "__rmod__": ("remainder", True), "__rpow__": ("pow", True), "__getitem__": ("index.Tensor", False),
}  # fmt: skip

# The order of the arguments by position where it is not that of the row.
POSITIONS = {name: ["self", "dim", "unbiased", "keepdim"] for name in ["var", "std", "var_mean", "std_mean"]}
POSITIONS["where"] = ["condition", "self", "other"]

# What parameters are called in Python that the row calls otherwise.
SYNONYMS = {
    "input": "self", "x": "self", "axis": "dim", "keepdims": "keepdim", "dims": "size", "shape": "size", "value": "src",
    "other": "tensor", "a": "self", "b": "other", "size": "shape", "tensors": "indices",
}  # fmt: skip

# Functions that take a list as the rest of their arguments.
VARIADIC = {
    "expand", "permute", "view", "reshape", "sum_to_size", "repeat", "tile", "einsum", "broadcast_tensors", "broadcast_shapes",
    "meshgrid", "cartesian_prod",
}  # fmt: skip
# Those of them that take nothing before the list.
LISTS_ALONE = {"broadcast_tensors", "broadcast_shapes", "meshgrid", "cartesian_prod"}

# The rows of the overloads that have one of their own.
OVERLOADS = {"index.Tensor": ["index"], "max": ["maximum"], "min": ["minimum"]}

# What `cdist` calls the modes that its operator counts.
COMPUTE_MODES = {
    "use_mm_for_euclid_dist_if_necessary": None,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


class Unfit(Exception):
    """Why a sample is no program. The text groups samples, so it has nothing of one of them."""


@dataclass(frozen=True)
class Call:
    """The arguments of a row, in its order, and the function that was called with its own."""

    row: dict
    arguments: list
    run: object
    in_place: bool


class Captured(BaseException):
    """Ends a sample at the function that it calls. No handler of `Exception` in a sample stops it."""


def row_of(name):
    """The row of a function's name, whether its operands are swapped, and whether it writes to the first of them."""
    if name in OPERATORS:
        return *OPERATORS[name], False
    for candidate, in_place in ((name, False), (name.removesuffix("_"), name.endswith("_"))):
        candidate = candidate if candidate in ROWS else ROW_OF.get(candidate)
        if candidate is not None:
            return candidate, False, in_place
    return None


class Capture(TorchFunctionMode):
    """Stops at the first call of a function that is a row."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        found = row_of(getattr(function, "__name__", ""))
        if found is None:
            return function(*args, **kwargs)
        raise Captured(function, found, args, kwargs)


def captured(op, sample):
    """The call that a sample of an OpInfo makes."""
    try:
        with Capture():
            op(sample.input, *sample.args, **sample.kwargs)
    except Captured as stop:
        function, (name, swapped, in_place), args, kwargs = stop.args
        given, named = list(args[::-1] if swapped else args), dict(kwargs)
        row = ROWS[overload(name, given, named)]
        return Call(row, bound(row, given, named), lambda: function(*args, **kwargs), in_place)
    except Exception as error:
        # Python's argument parser rejects types before there is a call that a mode could see.
        raise Unfit("Python's front end rejects it before a function of the table is called") from error
    if row_of(op.name) is not None and not any(isinstance(each, torch.Tensor) for each in [sample.input, *sample.args]):
        # Without tensors, a mode sees nothing.
        row = ROWS[row_of(op.name)[0]]
        args = [sample.input, *sample.args]
        return Call(row, bound(row, args[:], dict(sample.kwargs)), lambda: op(*args, **sample.kwargs), False)
    raise Unfit("the sample calls no function of the table")


def overload(name, args, kwargs):
    """The row of the overload that is called; an index expression without tensors becomes its items."""
    if name == "index.Tensor":
        items = args[1] if isinstance(args[1], tuple) else (args[1],)
        if all(item is None or item is Ellipsis or type(item) in (int, slice) for item in items):
            args[1] = items
            return "index"
    elif name in OVERLOADS and (isinstance(kwargs.get("other"), torch.Tensor) or isinstance([*args, None][1], torch.Tensor)):
        return OVERLOADS[name][0]
    return name


def bound(row, args, kwargs):
    """One argument for each parameter of the row, `MISSING` where its default holds."""
    name, names = row["name"], [each["name"] for each in row["arguments"]]
    given = {}
    for key, value in special(name, args, kwargs).items():
        key = key if key in names else SYNONYMS.get(key, key)
        if key in names:
            given[key] = value
        elif key != "out" and value is not None and value is not False:
            raise Unfit(f"`{key}` is no argument of the row")
    if len(args) > len(names) and name not in VARIADIC:
        raise Unfit("an overload with more arguments than the row has")
    for key, value in zip(POSITIONS.get(name, names), args, strict=False):
        if key in given:
            raise Unfit("an argument by position and by name")
        given[key] = value
    arguments = []
    for each in row["arguments"]:
        if each["name"] in given:
            arguments.append(argument(each, given[each["name"]]))
        elif "default" in each:
            arguments.append(default(each))
        else:
            raise Unfit(f"an overload without `{each['name']}`")
    return arguments


def special(name, args, kwargs):
    """The keywords of a call; arguments by position that need another shape are changed where they stand."""
    if name in VARIADIC:
        first = 0 if name in LISTS_ALONE else 1
        rest = args[first:]
        if len(rest) == 1 and isinstance(rest[0], (list, tuple)) and name != "broadcast_shapes":
            rest = rest[0]
        if rest or first == 0:
            args[first:] = [list(rest)]
    if name in POSITIONS and len(args) == 2 and isinstance(args[1], bool):
        kwargs["unbiased"] = args.pop()
    if name == "cdist" and "compute_mode" in kwargs:
        kwargs["compute_mode"] = COMPUTE_MODES.get(kwargs["compute_mode"])
    if name == "tensordot":
        dims = args.pop() if len(args) == 3 else kwargs.pop("dims", 2)
        if isinstance(dims, torch.Tensor):
            dims = dims.tolist()
        if isinstance(dims, int):
            dims = [list(range(-dims, 0)), list(range(dims))]
        kwargs["dims_self"], kwargs["dims_other"] = [[each] if isinstance(each, int) else list(each) for each in dims]
    if name == "index.Tensor":
        items = args[1] if isinstance(args[1], tuple) else (args[1],)
        if not all(item is None or isinstance(item, torch.Tensor) for item in items) or None in map(type, items):
            raise Unfit("an index of tensors and of integers, slices or lists")
        args[1] = list(items)
    return kwargs


def number(value):
    """A number of Python as the protocol has it."""
    if isinstance(value, numbers.Number) and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise Unfit("an integer beyond 64 bits")
        return {"int": value}
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, complex):
        return {"complex": [repr(value.real), repr(value.imag)]}
    raise TypeError


def integer(value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def integers(value):
    return [integer(each) for each in value]


def tensor(value):
    if not isinstance(value, torch.Tensor):
        raise TypeError
    return value


def operand(value):
    return {"tensor": value} if isinstance(value, torch.Tensor) else {"number": number(value)}


def shape(value):
    return {"size": value} if isinstance(value, int) else {"sizes": integers(value)}


def flag(value):
    if not isinstance(value, bool):
        raise TypeError
    return value


def text(value):
    if not isinstance(value, str):
        raise TypeError
    return value


def dtype(value):
    if not isinstance(value, torch.dtype):
        raise TypeError
    name = str(value).removeprefix("torch.")
    if name not in DTYPES:
        raise Unfit("a dtype as an argument that broadcheck does not have")
    return name


def reduction(value):
    if value not in ("none", "mean", "sum"):
        raise Unfit("a reduction that the row does not have")
    return value


def item(value):
    """An item of an index expression."""
    if isinstance(value, slice):
        step = 1 if value.step is None else integer(value.step)
        start, stop = (None if each is None else integer(each) for each in (value.start, value.stop))
        return {"slice": {"start": start, "stop": stop, "step": step}}
    return {None: "none", Ellipsis: "ellipsis"}[value] if value in (None, Ellipsis) else {"at": integer(value)}


KINDS = {
    "tensor": lambda value: {"tensor": tensor(value)},
    "operand": operand,
    "value": operand,
    "tensors": lambda value: {"tensors": [tensor(each) for each in value]},
    "indices": lambda value: {"indices": [None if each is None else tensor(each) for each in value]},
    "shapes": lambda value: {"shapes": [shape(each) for each in value]},
    "number": lambda value: {"number": number(value)},
    "int": lambda value: {"int": integer(value)},
    "ints": lambda value: {"ints": integers([value] if isinstance(value, int) else value)},
    "dims": lambda value: {"int": value} if isinstance(value, int) else {"ints": integers(value)},
    "real": lambda value: {"number": number(float(value))},
    "reduction": lambda value: {"text": reduction(value)},
    "flag": lambda value: {"flag": flag(value)},
    "dtype": lambda value: {"dtype": dtype(value)},
    "text": lambda value: {"text": text(value)},
    "index": lambda value: {"index": [item(each) for each in value]},
}


def argument(parameter, value):
    """A value as an argument of the protocol, with tensors as they are."""
    if value is None and "default" in parameter:
        # None stands for the default where that is another value, too, as Python's functions have it.
        return default(parameter)
    try:
        return KINDS[parameter["kind"]](value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise Unfit(f"`{parameter['name']}` is of type {kind}, which the row does not take") from None


def default(parameter):
    """What holds where an argument is left out."""
    value = parameter["default"]
    return "nothing" if value is None else KINDS[parameter["kind"]](value)
