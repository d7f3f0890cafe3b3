"""Values as Python writes them: numbers, arrays of NumPy, and what a module of the library has a name for."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Iterator
from typing import Any

# As deep as the names of functions are, such as `paddle.nn.functional.relu`.
DEPTH = 3
# More elements are written as bytes.
MOST = 256


class Unwritable(Exception):
    """A value that has no expression."""


class Literals:
    """Writes values for a recorder, which knows the variables."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.paths: dict[int, tuple[Any, str]] = {}
        self.is_found = False
        self.imports: dict[str, str] = {}
        self.used: set[str] = set()

    def text(self, value: Any) -> str:
        """Returns an expression of a value."""
        if self.recorder.is_named(value):
            return str(self.recorder.named[id(value)][1])
        if value is None or value is Ellipsis or isinstance(value, (bool, str, bytes)):
            return "..." if value is Ellipsis else repr(value)
        if type(value) is int:
            return repr(value)
        if type(value) is float:
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if type(value) is complex:
            return f"complex({self.text(value.real)}, {self.text(value.imag)})"
        if isinstance(value, slice):
            return f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"
        if path := self.path(value):
            return path
        member = getattr(value, "name", None)
        if isinstance(member, str) and getattr(type(value), member, None) == value and self.path(type(value)):
            return f"{self.path(type(value))}.{member}"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.text, value))}{',' * (len(value) == 1)})"
        if isinstance(value, (list, map, zip)):
            texts = list(map(self.text, value))
            whole = texts[0].removesuffix("[0]") if texts else ""
            parts = [f"{whole}[{at}]" for at in range(len(texts))]
            return f"list({whole})" if whole and texts == parts else f"[{', '.join(texts)}]"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{self.text(key)}: {self.text(each)}' for key, each in value.items())}}}"
        if array := self.array(value):
            return array
        if isinstance(value, int):
            return repr(int(value))
        raise Unwritable(f"a value of type {type(value).__name__}: {getattr(value, '__name__', '')}")

    def operand(self, value: Any) -> str:
        """Returns an expression that may stand next to an operator or before a dot."""
        text = self.text(value)
        is_simple = text.replace("_", "a").replace(".", "a").isalnum() or text[-1] in ")]"
        return text if is_simple and not text[0].isdigit() and " " not in text.split("(")[0] else f"({text})"

    def key(self, key: Any) -> str:
        """Returns what stands between brackets."""
        if isinstance(key, tuple) and key:
            return ", ".join(map(self.key, key)) + "," * (len(key) == 1)
        if not isinstance(key, slice):
            return self.text(key)
        bounds = ["" if each is None else self.text(each) for each in (key.start, key.stop, key.step)]
        return ":".join(bounds if bounds[2] else bounds[:2])

    def array(self, value: Any) -> str | None:
        """Returns an expression of an array of NumPy, of one of its numbers, or of a dtype."""
        numpy = sys.modules.get("numpy")
        if numpy is None:
            return None
        if isinstance(value, numpy.dtype):
            return self.dtype(value)
        if isinstance(value, numpy.generic):
            return f"{self.array(numpy.asarray(value))}[()]"
        if not isinstance(value, numpy.ndarray):
            return None
        self.need("np", "numpy")
        dtype = self.dtype(value.dtype)
        if value.size == 0:
            return f"np.zeros({tuple(value.shape)}, dtype={dtype})"
        flat = value.ravel()
        if value.size > MOST:
            content = flat.tobytes()
            if content == flat[:1].tobytes() * value.size:
                return f"np.full({tuple(value.shape)}, {self.element(flat[0])}, dtype={dtype})"
            return f'np.frombuffer(bytes.fromhex("{content.hex()}"), dtype={dtype}).reshape({tuple(value.shape)})'
        text = self.nested(value)
        return f"np.array({text}, dtype={dtype})"

    def nested(self, value: Any) -> str:
        """Returns the elements in lists."""
        return self.element(value[()]) if value.ndim == 0 else f"[{', '.join(map(self.nested, map(_whole, value)))}]"

    def element(self, number: Any) -> str:
        """Returns the shortest number that is this element."""
        if number.dtype.kind in "biu":
            return repr(number.item())
        if number.dtype.kind == "c":
            return f"complex({self.element(number.real)}, {self.element(number.imag)})"
        shortest = float(str(number))
        return self.text(shortest if type(number)(shortest) == number else float(number))

    def dtype(self, dtype: Any) -> str:
        """Returns an expression of a dtype of NumPy."""
        if dtype.kind != "V":
            self.need("np", "numpy")
            return f"np.{'bool_' if dtype.name == 'bool' else dtype.name}"
        self.need("ml_dtypes", "ml_dtypes")
        return f"ml_dtypes.{dtype.name}"

    def need(self, alias: str, module: str) -> None:
        """Lets the program import a module."""
        self.imports[alias] = f"import {module}" + (f" as {alias}" if alias != module else "")
        self.used.add(alias)

    def path(self, value: Any) -> str | None:
        """Returns the name that a module of the library has for a value, by which users call it."""
        if not self.is_found:
            self.is_found = True
            self.find()
        found = self.paths.get(id(value))
        if found is None or found[0] is not value:
            return None
        self.used.add(found[1].split(".")[0])
        return found[1]

    def find(self) -> None:
        """Finds the names, the shortest for each value."""
        level = list(self.roots())
        for alias, module in level:
            self.paths.setdefault(id(module), (module, alias))
        for _ in range(DEPTH):
            deeper = []
            for alias, module in level:
                # Some modules do not list what they make when they are asked for it.
                for name in sorted(name for name in {*dir(module), *vars(module), "linalg"} if name[:1] != "_"):
                    try:
                        each = getattr(module, name)
                    except Exception:
                        continue
                    if each is None or isinstance(each, (bool, int, float, complex, str, tuple, list, dict)):
                        continue
                    is_new = id(each) not in self.paths
                    self.paths.setdefault(id(each), (each, f"{alias}.{name}"))
                    # A module that is imported when it is used may have no name.
                    if is_new and isinstance(each, types.ModuleType) and _root(each) == _root(module):
                        deeper.append((f"{alias}.{name}", each))
                    elif is_new and type(each) is not types.ModuleType and _is_class(each):
                        for method, function in vars(each).items():
                            if not method.startswith("_") and callable(function):
                                self.paths.setdefault(id(function), (function, f"{alias}.{name}.{method}"))
            level = deeper

    def roots(self) -> Iterator[tuple[str, Any]]:
        """Yields what the modules of the adapter import from the library, with the imports."""
        for name in reversed(self.recorder.modules):
            module = sys.modules.get(name)
            for alias, each in list(vars(module).items()) if module else []:
                if isinstance(each, types.ModuleType):
                    if _is_foreign(each.__name__) and each.__name__ not in self.recorder.modules:
                        plain = f"import {each.__name__}"
                        self.imports[alias] = plain if each.__name__ == alias else f"{plain} as {alias}"
                        yield alias, each
                elif _is_class(each):
                    if each.__module__ not in self.recorder.modules:
                        source = _public(each)
                        if source:
                            self.imports[alias] = f"from {source} import {each.__name__}" + (
                                f" as {alias}" if alias != each.__name__ else ""
                            )
                            self.paths.setdefault(id(each), (each, alias))


def _public(each: type) -> str | None:
    """Returns the shortest module that a class can be imported from."""
    parts = each.__module__.split(".")
    for count in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:count]))
        if module is not None and getattr(module, each.__name__, None) is each:
            return ".".join(parts[:count])
    return None


def _is_class(value: Any) -> bool:
    """Returns True for a class of the library."""
    return isinstance(value, type) and _is_foreign(str(getattr(value, "__module__", "builtins")))


def _root(module: types.ModuleType) -> str:
    try:
        return module.__name__.split(".")[0]
    except Exception:
        return ""


def _is_foreign(module: str) -> bool:
    root = module.split(".")[0]
    return root not in sys.stdlib_module_names and root not in {"broadcheck_adapter", "__main__"}


def _whole(value: Any) -> Any:
    """Returns an element as an array of no dimensions."""
    return sys.modules["numpy"].asarray(value)
