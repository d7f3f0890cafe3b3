"""A library under test, as its adapter describes it, and how a program runs on it."""

from __future__ import annotations

import base64
import re
import tempfile
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypedDict, TypeVar

from .rejection import Classify, RejectionClass, checked

VALUE_LIMIT = 64 << 20
"""The most bytes of elements in a reply. A larger tensor is sent without them."""

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip
"""The dtypes that programs have."""

Capability = Literal["in_place", "out", "strides", "autograd", "warnings", "messages", "no_values"]
"""The features of a library beyond new tensors; `adapters/README.md` explains each."""

MISTAKES = (NameError, AttributeError, KeyError, AssertionError, ImportError, NotImplementedError)
"""The exceptions that only a mistake in an adapter raises. Every other exception of a step is the library's rejection."""

T = TypeVar("T")
Json = dict[str, Any]
Watch = Callable[[Json], None]


class _Reason(TypedDict):
    why: str


class Lack(_Reason, total=False):
    """A missing feature of a library, with the reason. An entry applies to the combination of all its fields."""

    op: str
    form: str
    argument: str
    dtype: str


class _Answer(TypedDict):
    what: str


class UnsupportedCall(_Answer, total=False):
    """A text of `Unsupported`, and the steps that may be answered so. A list that is left out admits any, but `ops` or
    `dtypes` must be given."""

    ops: list[str]
    forms: list[str]
    dtypes: list[str]


class Rejection(Exception):
    """A rejection that the adapter words itself, for a library that raises no exception of its own. Without a class,
    `Library.classify` finds it."""

    def __init__(self, message: str, kind: RejectionClass | None = None) -> None:
        super().__init__(message)
        self.kind = kind and checked(kind)


class Unsupported(Exception):
    """A call that the library has no function for, in a text that its `Library` lists as `unsupported`."""


class Inexpressible(Exception):
    """A result that the protocol cannot express."""


class Missing(Exception):
    """A step uses a value that does not exist."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


@dataclass
class Reply:
    """A tensor as the protocol has it."""

    dtype: str
    shape: Sequence[int]
    data: bytes
    """The elements, little-endian and in row-major order; empty where they exceed `VALUE_LIMIT`."""
    strides: Sequence[int] | None = None
    """In elements, if the library has strides."""
    storage: tuple[object, int] | None = None
    """Any key of the memory that the tensor lies in, and how many elements are before it."""


def _no_class(_exception: Exception, _op: str) -> None:
    return None


@dataclass
class Library(Generic[T]):
    """The description of a library, whose tensors are of type `T`. Nothing else knows the library."""

    name: str
    version: str
    """The library's own, asked at run time."""
    dtypes: Sequence[str]
    ops: Mapping[str, Callable[..., Any]]
    """Operation to function. It is called as `function(form, out, *arguments)`, with the arguments in the order that
    `broadcheck ops` prints, tensors among them as the library's own, and returns the result of the step. An `Operation`
    is such a function."""
    make: Callable[[str, list[int], bytes, bool], T]
    """Makes a tensor in a storage of its own from dtype, shape, bytes, and whether it requires gradients."""
    read: Callable[[T], Reply]
    is_tensor: Callable[[object], bool]
    """Returns True for a tensor of the library."""
    classify: Classify = _no_class
    """Returns broadcheck's class of an exception that an operation raised, or None. `classifier` makes one."""
    build: str = ""
    """Whatever else about the library can change results."""
    capabilities: Sequence[Capability] = ()
    lacks: Sequence[Lack] = ()
    unsupported: Sequence[UnsupportedCall] = ()
    """Each text of `Unsupported`, with the steps that may be answered so."""
    warnings: Callable[[], AbstractContextManager[list[tuple[str, str]]]] | None = None
    """Collects the warnings of a step: a context manager that yields a list of pairs, text and category."""
    mistakes: tuple[type[Exception], ...] = MISTAKES
    """The exceptions that are the adapter's own mistakes and make a step `failed`."""
    apart: Collection[str] = frozenset()
    """Operations that may end or corrupt the library's process. A program with one runs in a copy of the process."""

    def hello(self) -> Json:
        """Returns what `hello` is answered with."""
        return {
            "name": self.name,
            "version": self.version,
            "build": self.build,
            "ops": list(self.ops),
            "dtypes": list(self.dtypes),
            "capabilities": list(self.capabilities),
            "lacks": list(self.lacks),
            "unsupported": list(self.unsupported),
        }


def run(library: Library[Any], program: Json, watch: Watch | None = None) -> Json:
    """Returns the reply to one program. `watch` is told of each step before it runs."""
    values: list[Any] = []
    storages: dict[object, int] = {}
    for at, given in enumerate(program["inputs"]):
        data = base64.b64decode(given["data"])
        tensor = library.make(given["dtype"], given["shape"], data, given.get("requires_grad", False))
        shown = library.read(tensor)
        if shown.storage is not None:
            storages[shown.storage[0]] = at
        values.append(tensor)
    # Storages that are not those of inputs have the next numbers.
    first = len(values)
    steps = []
    for step in program["steps"]:
        if watch:
            watch(step)
        steps.append(run_step(library, step, values, storages, first))
    reply: Json = {"steps": steps}
    if any(step["form"] != "functional" for step in program["steps"]):
        reply["inputs"] = [encode(library, tensor, storages, first) for tensor in values[:first]]
    return reply


def run_step(library: Library[Any], step: Json, values: list[Any], storages: dict[object, int], first: int) -> Json:
    """Runs one step, and appends its result to the values."""
    warned: list[tuple[str, str]] = []
    result: Any = None
    outcome: Json
    try:
        arguments = [resolve(values, argument) for argument in step["args"]]
        out = lookup(values, step["out"]) if "out" in step else None
        function = library.ops[step["op"]]
        if library.warnings is None:
            result = function(step["form"], out, *arguments)
        else:
            with library.warnings() as warned:
                result = function(step["form"], out, *arguments)
        outcome = {"value": value(library, result, storages, first)}
    except Missing as missing:
        outcome = {"blocked": missing.value}
    except Unsupported as error:
        outcome = {"unsupported": str(error)}
    except Inexpressible as error:
        outcome = {"failed": str(error)}
    except library.mistakes as error:
        traceback.print_exc()
        outcome = {"failed": f"{type(error).__name__}: {error}"}
    except Exception as error:
        outcome = {"rejected": rejected(library, error, step["op"])}
    values.append(result if "value" in outcome else Missing)
    fields: Json = {"warnings": [text for text, _ in warned]} if warned else {}
    if warned and "warnings" in library.capabilities:
        fields["categories"] = [category for _, category in warned]
    return {"outcome": outcome, **fields}


def rejected(library: Library[Any], error: Exception, op: str) -> Json:
    """Returns the outcome of a step that raised."""
    message = (str(error).splitlines() or [type(error).__name__])[0]
    # Addresses differ from run to run, and so do folders for temporary files, such as a compiler's.
    message = re.sub(r"\b0x[0-9a-f]{6,}\b", "0x...", message)
    message = re.sub(rf"{re.escape(tempfile.gettempdir())}/(?:[^\s/]+/)*", "", message)
    kind = (isinstance(error, Rejection) and error.kind) or library.classify(error, op)
    # A `Rejection` is the adapter's own exception, and not the library's.
    raises = "messages" in library.capabilities and not isinstance(error, Rejection)
    fields = {"class": kind} if kind else {}
    return {"message": message, **fields, **({"raises": type(error).__name__} if raises else {})}


def lookup(values: list[Any], reference: Json) -> Any:
    """Returns a value, or one of its parts."""
    found = values[reference["value"]]
    if found is Missing:
        raise Missing(reference["value"])
    return found[reference["part"]] if "part" in reference else found


def resolve(values: list[Any], argument: Any) -> Any:
    """Returns an argument as Python has it."""
    if argument == "nothing":
        return None
    ((kind, given),) = argument.items()
    match kind:
        case "tensor":
            return lookup(values, given)
        case "tensors":
            return [lookup(values, each) for each in given]
        case "indices":
            return [None if each is None else lookup(values, each) for each in given]
        case "number":
            return number(given)
        case "int" | "ints" | "flag" | "dtype" | "scalar_type" | "text":
            return given
        case "shapes":
            return [content for each in given for content in each.values()]
        case "index":
            return tuple(index_item(each) for each in given)
    raise AssertionError(f"no argument is called {kind!r}")


def number(given: Json) -> Any:
    """Returns a Python number."""
    ((kind, text),) = given.items()
    match kind:
        case "float":
            return float(text)
        case "complex":
            return complex(float(text[0]), float(text[1]))
    return text


def index_item(item: Any) -> Any:
    """Returns one of the items between brackets."""
    if item == "none":
        return None
    if item == "ellipsis":
        return Ellipsis
    if "at" in item:
        return item["at"]
    return slice(item["slice"]["start"], item["slice"]["stop"], item["slice"]["step"])


class Sizes(tuple[int, ...]):
    """A shape as a result."""


class Dtype(str):
    """A dtype as a result, by its name in PyTorch."""


def value(library: Library[Any], result: Any, storages: dict[object, int], first: int) -> Any:
    """Returns a result as the protocol has it."""
    if result is None:
        return "nothing"
    if isinstance(result, Sizes):
        return {"sizes": [int(size) for size in result]}
    if isinstance(result, Dtype):
        return {"dtype": str(result)}
    if library.is_tensor(result):
        return {"tensor": encode(library, result, storages, first)}
    if isinstance(result, (list, tuple)):
        return {"tensors": [encode(library, each, storages, first) for each in result]}
    if isinstance(result, bool):
        return {"number": {"bool": result}}
    if isinstance(result, int):
        return {"number": {"int": result}}
    if isinstance(result, float):
        return {"number": {"float": repr(result)}}
    if isinstance(result, complex):
        return {"number": {"complex": [repr(result.real), repr(result.imag)]}}
    raise AssertionError(f"a result of type {type(result).__name__} is no value of the protocol")


def encode(library: Library[Any], tensor: Any, storages: dict[object, int], first: int) -> Json:
    """Returns a tensor as the protocol has it."""
    shown: Reply = library.read(tensor)
    if shown.dtype not in library.dtypes:
        whose = "the adapter's `dtypes` do not list" if shown.dtype in DTYPES else "broadcheck does not have"
        raise Inexpressible(f"the result is of dtype {shown.dtype}, which {whose}")
    data = shown.data if len(shown.data) <= VALUE_LIMIT else b""
    fields: Json = {"dtype": shown.dtype, "shape": list(shown.shape), "data": base64.b64encode(data).decode("ascii")}
    if shown.strides is not None:
        fields["strides"] = list(shown.strides)
    if shown.storage is not None:
        key, offset = shown.storage
        if key not in storages:
            storages[key] = max([first - 1, *storages.values()]) + 1
        fields["storage"] = {"id": storages[key], "offset": int(offset)}
    return fields
