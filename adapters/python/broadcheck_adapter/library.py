"""A library under test, as its adapter describes it, and how a program runs on it."""

import base64
import traceback
from dataclasses import dataclass, field

VALUE_LIMIT = 64 << 20

# What only a mistake in an adapter raises. Everything else that a step raises is the library's refusal.
MISTAKES = (NameError, AttributeError, KeyError, AssertionError, ImportError, NotImplementedError)


class Refusal(Exception):
    """A refusal in the adapter's words, or in the library's without the place in its sources. Without a kind it has
    that of its text."""

    def __init__(self, message, kind=None):
        super().__init__(message)
        self.kind = kind


class Unsupported(Exception):
    """A call that the library has no form of, in a text that its `Library` lists as `unsupported` for the operation."""


class Inexpressible(Exception):
    """A result that the protocol has no words for."""


class Missing(Exception):
    """A step uses a value that does not exist."""

    def __init__(self, value):
        super().__init__(value)
        self.value = value


@dataclass
class Reply:
    """A tensor as the library shows it. `storage` is any key of the memory it lies in, and the elements before it."""

    dtype: str
    shape: list
    data: bytes
    strides: list | None = None
    storage: tuple | None = None


@dataclass
class Library:
    """What an adapter says of its library. The functions are the only ones that know it."""

    name: str
    version: str
    dtypes: list
    # Operation to function. It is called as `function(form, out, *arguments)`, with the arguments of the operation
    # table in their order, tensors among them as the library's own, and returns what the step results in.
    ops: dict
    # (dtype, shape, bytes, requires_grad) to a tensor in a storage of its own.
    make: callable
    # A tensor to a `Reply`.
    read: callable
    # Whether something is a tensor of the library.
    is_tensor: callable
    # An exception and the operation to broadcheck's class of it, or None. The message is the exception's.
    classify: callable = lambda error, op: None
    build: str = ""
    capabilities: list = field(default_factory=list)
    lacks: list = field(default_factory=list)
    # What only the call shows to be lacking: each text, with the operations that may be answered so, as
    # {"what": text, "ops": [names]}. It may be limited to some "forms" and "dtypes", too.
    unsupported: list = field(default_factory=list)
    # Collects the warnings of a step: a context manager that results in a list of pairs, text and category.
    warnings: callable = None
    mistakes: tuple = MISTAKES
    # The operations of which the library may end or destroy its process. A program with one runs in a copy of it.
    apart: frozenset = frozenset()

    def hello(self):
        """What the harness is told."""
        return {
            "name": self.name,
            "version": self.version,
            "build": self.build,
            "ops": list(self.ops),
            "dtypes": self.dtypes,
            "capabilities": self.capabilities,
            "lacks": self.lacks,
            "unsupported": self.unsupported,
        }


def run(library, program):
    """The reply to one program."""
    values, storages = [], {}
    for at, given in enumerate(program["inputs"]):
        data = base64.b64decode(given["data"])
        tensor = library.make(given["dtype"], given["shape"], data, given.get("requires_grad", False))
        shown = library.read(tensor)
        if shown.storage is not None:
            storages[shown.storage[0]] = at
        values.append(tensor)
    # Storages that are not those of inputs have the next numbers.
    first = len(values)
    steps = [run_step(library, step, values, storages, first) for step in program["steps"]]
    reply = {"steps": steps}
    if any(step["form"] != "functional" for step in program["steps"]):
        reply["inputs"] = [encode(library, tensor, storages, first) for tensor in values[:first]]
    return reply


def run_step(library, step, values, storages, first):
    warned = []
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
        result, outcome = None, {"blocked": missing.value}
    except Unsupported as error:
        result, outcome = None, {"unsupported": str(error)}
    except Inexpressible as error:
        result, outcome = None, {"failed": str(error)}
    except library.mistakes as error:
        traceback.print_exc()
        result, outcome = None, {"failed": f"{type(error).__name__}: {error}"}
    except Exception as error:
        result, outcome = None, {"rejected": rejected(library, error, step["op"])}
    values.append(result if "value" in outcome else Missing)
    told = {"warnings": [text for text, _ in warned]} if warned else {}
    if warned and "warnings" in library.capabilities:
        told["categories"] = [category for _, category in warned]
    return {"outcome": outcome, **told}


def rejected(library, error, op):
    message = (str(error).splitlines() or [type(error).__name__])[0]
    kind = isinstance(error, Refusal) and error.kind or library.classify(error, op)
    # A `Refusal` is the adapter's own exception, and not the library's.
    raises = "messages" in library.capabilities and not isinstance(error, Refusal)
    told = {"class": kind} if kind else {}
    return {"message": message, **told, **({"raises": type(error).__name__} if raises else {})}


def lookup(values, reference):
    found = values[reference["value"]]
    if found is Missing:
        raise Missing(reference["value"])
    return found[reference["part"]] if "part" in reference else found


def resolve(values, argument):
    """An argument as Python has it."""
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
        case "int" | "ints" | "flag" | "dtype" | "text":
            return given
        case "shapes":
            return [content for each in given for content in each.values()]
        case "index":
            return tuple(index_item(each) for each in given)
    raise AssertionError(f"no argument is called {kind!r}")


def number(given):
    ((kind, text),) = given.items()
    match kind:
        case "float":
            return float(text)
        case "complex":
            return complex(float(text[0]), float(text[1]))
    return text


def index_item(item):
    if item == "none":
        return None
    if item == "ellipsis":
        return Ellipsis
    if "at" in item:
        return item["at"]
    return slice(item["slice"]["start"], item["slice"]["stop"], item["slice"]["step"])


class Sizes(tuple):
    """A shape as a result."""


def value(library, result, storages, first):
    """A result as the protocol has it."""
    if result is None:
        return "nothing"
    if isinstance(result, Sizes):
        return {"sizes": [int(size) for size in result]}
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


def encode(library, tensor, storages, first):
    shown = library.read(tensor)
    if shown.dtype not in library.dtypes:
        raise Inexpressible(f"the result is of dtype {shown.dtype}, which broadcheck does not have")
    data = shown.data if len(shown.data) <= VALUE_LIMIT else b""
    told = {"dtype": shown.dtype, "shape": list(shown.shape), "data": base64.b64encode(data).decode("ascii")}
    if shown.strides is not None:
        told["strides"] = list(shown.strides)
    if shown.storage is not None:
        key, offset = shown.storage
        if key not in storages:
            storages[key] = max([first - 1, *storages.values()]) + 1
        told["storage"] = {"id": storages[key], "offset": int(offset)}
    return told
