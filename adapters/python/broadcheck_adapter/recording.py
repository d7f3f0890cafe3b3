"""Records the calls of a library that a program makes, and writes them as a program in the library alone.

If the variable `BROADCHECK_RENDER` names a file, the modules of an adapter are compiled so that each of their calls,
operators and attributes passes through a `Recorder`. Those of the library are written to that file. What the library does
inside of a call is not seen, since its modules stay as they are. Without the variable, nothing of this happens.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import os
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from .literal import Literals, Unwritable

VARIABLE: Final = "BROADCHECK_RENDER"
"""The variable with the name of the file."""

PACKAGE: Final = Path(__file__).resolve().parent
# These speak the protocol and call no library.
PROTOCOL = {"__init__", "library", "literal", "machine", "recording", "rejection", "rendering", "server", "worker"}
# The functions that set how a library works, which an adapter may call before its first program.
SETTING: Final = re.compile("(set|enable|disable)_|update$")
WAITING = {"block_until_ready"}
CONVERSIONS = (bool, int, float, complex)
# These look at the frame that calls them.
BY_FRAME = {"super", "locals", "globals", "vars", "eval", "exec", "dir"}
BINARY: Final = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>",
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
}  # fmt: skip
FUNCTIONS: Final = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
PLACED = {"iand": "&=", "ior": "|=", "ixor": "^="} | {f"i{name}": f"{sign}=" for name, sign in FUNCTIONS.items()}


class Instrument(ast.NodeTransformer):
    """Lets calls, operators and attributes of a module pass through the recorder, which is a builtin."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in BY_FRAME:
            return node
        return _through("call", node, node.func, *node.args, keywords=node.keywords)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return _through("attribute", node, node.value, ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        return _through("item", node, node.value, _key(node.slice)) if isinstance(node.ctx, ast.Load) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        lazy = ast.Lambda(_TWO, ast.BinOp(ast.Name("l", ast.Load()), node.op, ast.Name("r", ast.Load())))
        sign = ast.Constant(BINARY[type(node.op).__name__])
        return _through("binary", node, sign, lazy, node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sign = BINARY.get(type(node.ops[0]).__name__)
        if len(node.ops) > 1 or sign is None:
            return node
        lazy = ast.Lambda(_TWO, ast.Compare(ast.Name("l", ast.Load()), node.ops, [ast.Name("r", ast.Load())]))
        return _through("binary", node, ast.Constant(sign), lazy, node.left, node.comparators[0])

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        (target, *others) = node.targets
        if others or not isinstance(target, (ast.Attribute, ast.Subscript)):
            return node
        if isinstance(target, ast.Attribute):
            call = _through("set", node, target.value, ast.Constant(target.attr), node.value)
            return ast.copy_location(ast.Expr(call), node)
        call = _through("assign", node, target.value, _key(target.slice), node.value)
        return ast.copy_location(ast.Expr(call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node


_TWO: Final = ast.arguments([], [ast.arg("l"), ast.arg("r")], None, [], [], None, [])


def _through(method: str, node: ast.expr | ast.stmt, *given: ast.expr, keywords: Sequence[ast.keyword] = ()) -> ast.Call:
    function = ast.Attribute(ast.Name("_broadcheck_recorder", ast.Load()), method, ast.Load())
    return ast.copy_location(ast.Call(function, list(given), list(keywords)), node)


def _key(node: ast.expr) -> ast.expr:
    """Returns what makes the key of a subscript outside of its brackets."""
    if isinstance(node, ast.Tuple):
        return ast.Tuple([_key(each) for each in node.elts], ast.Load())
    if not isinstance(node, ast.Slice):
        return node
    bounds = [each or ast.Constant(None) for each in (node.lower, node.upper, node.step)]
    return ast.Call(ast.Name("slice", ast.Load()), bounds, [])


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles a module of the adapter, with its calls through the recorder."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = str(Path(self.get_filename(fullname)).resolve())
        tree = ast.fix_missing_locations(Instrument().visit(ast.parse(self.get_data(path), path)))
        return compile(tree, path, "exec", dont_inherit=True)


class Finder(importlib.machinery.PathFinder):
    """Finds the modules of the adapter: those next to its program, and those of this package that call a library."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> Any:
        spec = super().find_spec(fullname, path, target)
        if spec and spec.origin and spec.origin.endswith(".py"):
            origin = Path(spec.origin).resolve()
            if origin.parent in RECORDER.folders and (origin.parent != PACKAGE or origin.stem not in PROTOCOL):
                spec.loader = Loader(fullname, spec.origin)
                RECORDER.modules.append(fullname)
                if origin.parent != PACKAGE:
                    # The library is not imported yet: what it sets itself is no part of the program.
                    RECORDER.environment_before_import()
        return spec


class Recorder:
    """The calls of a program so far."""

    def __init__(self) -> None:
        self.folders = {PACKAGE, Path(sys.argv[0] or ".").resolve().parent}
        self.modules: list[str] = []
        self.before = dict(os.environ)
        self.environment: dict[str, str] | None = None
        self.literals = Literals(self)
        self.is_tensor: Callable[[object], bool] = lambda _: False
        self.on_call: Callable[[], None] = lambda: None
        self.is_on = False
        self.is_making = False
        self.is_setup = True
        self.settings: list[tuple[Any, Sequence[Any], dict[str, Any]]] = []
        self.clear()

    def clear(self) -> None:
        """Forgets the program."""
        # What is named is held, so that its number stays its own.
        self.named: dict[int, tuple[Any, str]] = {}
        self.lines: list[tuple[str | None, str]] = []
        # The results that no variable is known by, with the numbers of their lines.
        self.plain: list[tuple[int, Any]] = []
        self.error: Exception | None = None
        self.why = ""
        self.pending: str | None = None
        self.count = 0

    def tensor(self, value: object) -> bool:
        """Returns True for a tensor of the library. How that is found out is no part of the program."""
        is_on, self.is_on = self.is_on, False
        try:
            return self.is_tensor(value)
        finally:
            self.is_on = is_on

    def settings_before(self) -> list[str]:
        """Returns the calls that the adapter made before its first program."""
        self.is_setup = False
        lines = []
        for function, arguments, named in self.settings:
            try:
                lines.append(self.call_text(function, arguments, named))
            except Unwritable:
                # It is not the library's.
                pass
        return lines

    def environment_before_import(self) -> None:
        """Notes the variables that the adapter has set before it imports its library."""
        if self.environment is None:
            self.environment = {name: text for name, text in os.environ.items() if self.before.get(name) != text}

    def is_named(self, value: object) -> bool:
        """Returns True for a value that a variable or an expression of the program has."""
        return id(value) in self.named and self.named[id(value)][0] is value

    def name(self, value: Any, text: str) -> None:
        """Gives a value its expression."""
        self.named[id(value)] = (value, text)

    def call(self, function: Any, /, *arguments: Any, **named: Any) -> Any:
        """Calls a function, and records it if it is the library's."""
        while self.is_on and type(function).__name__ == "partial" and hasattr(function, "func"):
            arguments, named = (*function.args, *arguments), {**function.keywords, **named}
            function = function.func
        if not self.is_on or not self.is_library(function, arguments):
            result = function(*arguments, **named)
            if self.is_setup and SETTING.match(getattr(function, "__name__", "")):
                self.settings.append((function, arguments, named))
            return result
        text = self.written(lambda: self.call_text(function, arguments, named))
        uses = any(self.is_named(each) for each in _flat([function, *arguments, *named.values()]))
        return self.record(text, lambda: function(*arguments, **named), uses=uses)

    def attribute(self, value: Any, name: str) -> Any:
        """Returns an attribute. One of a tensor is written as it stands where it is used."""
        found = getattr(value, name)
        if self.is_on and self.is_named(value) and not _is_plain(found) and not self.is_named(found):
            text = self.written(lambda: f"{self.literals.operand(value)}.{name}")
            if self.tensor(found):
                return self.record(text, lambda: found)
            self.name(found, text)
        return found

    def item(self, value: Any, key: Any) -> Any:
        """Returns what a subscript selects."""
        if not self.is_on or not self.is_named(value) or isinstance(value, (list, tuple, dict)):
            return value[key]
        text = self.written(lambda: f"{self.literals.operand(value)}[{self.literals.key(key)}]")
        return self.record(text, lambda: value[key], inline=True)

    def assign(self, value: Any, key: Any, content: Any) -> None:
        """Assigns to a subscript."""
        if not self.is_on or not self.is_named(value):
            value[key] = content
            return
        given = self.literals
        text = self.written(lambda: f"{given.operand(value)}[{given.key(key)}] = {given.text(content)}")
        self.record(text, lambda: value.__setitem__(key, content))

    def set(self, value: Any, name: str, content: Any) -> None:
        """Assigns to an attribute."""
        if not self.is_on or not self.is_named(value):
            setattr(value, name, content)
            return
        text = self.written(lambda: f"{self.literals.operand(value)}.{name} = {self.literals.text(content)}")
        self.record(text, lambda: setattr(value, name, content))

    def binary(self, sign: str, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        """Applies an operator."""
        if not self.is_on or not (self.is_named(left) or self.is_named(right)):
            return function(left, right)
        text = self.written(lambda: f"{self.literals.operand(left)} {sign} {self.literals.operand(right)}")
        return self.record(text, lambda: function(left, right))

    def written(self, expression: Callable[[], str]) -> str:
        """Returns an expression. If a value has none, the program runs on, and is not written."""
        try:
            return expression()
        except Unwritable as error:
            self.why = self.why or str(error)
            return "None"

    def record(self, text: str, make: Callable[[], Any], inline: bool = False, uses: bool = True) -> Any:
        """Runs a call of the library, and gives its result a variable."""
        self.pending = text
        self.write()
        self.is_on = False
        try:
            result = make()
        except Exception as error:
            self.error = error
            raise
        finally:
            self.is_on = True
        self.pending = None
        if not uses and not self.tensor(result) and (self.is_making or result is None or text.startswith("np.")):
            return result
        if inline and not self.tensor(result) and not _is_plain(result):
            self.name(result, text)
        elif result is None or (self.is_named(result) and not _is_plain(result)):
            if not any(text.startswith(f"{each.__name__}(") for each in CONVERSIONS):
                self.lines.append((None, text))
        else:
            self.count += 1
            name = f"_{self.count}"
            self.lines.append((name, text))
            if _is_plain(result):
                self.plain.append((len(self.lines) - 1, result))
            else:
                self.name(result, name)
            if isinstance(result, (list, tuple)) and not _is_plain(result):
                for at, each in enumerate(result):
                    self.name(each, f"{name}[{at}]")
        return result

    def is_library(self, function: Any, arguments: Sequence[Any]) -> bool:
        """Returns True for a function of the library, or one of Python's that is called on something of the library."""
        if self.is_named(function):
            return self.named[id(function)][1].rsplit(".", 1)[-1] not in WAITING
        if function in CONVERSIONS:
            return any(map(self.is_named, arguments))
        if isinstance(function, types.BuiltinFunctionType) and function.__module__ == "_operator":
            return any(map(self.is_named, arguments))
        code = getattr(function, "__code__", None)
        if code is not None and Path(code.co_filename).parent in self.folders:
            return False
        module = _module(function)
        root = module.split(".")[0]
        if module in self.modules or root in {"__main__", "builtins"} or root in sys.stdlib_module_names:
            return hasattr(function, "__objclass__") and any(map(self.is_named, arguments[:1]))
        if getattr(function, "__name__", "") in WAITING or root == "broadcheck_adapter":
            return False
        return not (self.is_making and root in {"numpy", "ml_dtypes"})

    def call_text(self, function: Any, arguments: Sequence[Any], named: dict[str, Any]) -> str:
        """Returns a call as Python writes it."""
        text, operand = self.literals.text, self.literals.operand
        name = getattr(function, "__name__", "")
        if not self.is_named(function) and getattr(function, "__module__", None) == "_operator":
            match name, arguments:
                case "getitem", (value, key):
                    return f"{operand(value)}[{self.literals.key(key)}]"
                case name, (left, right) if name in FUNCTIONS:
                    return f"{operand(left)} {FUNCTIONS[name]} {operand(right)}"
                case name, (left, right) if name in PLACED:
                    return f"{text(left)} {PLACED[name]} {text(right)}"
            raise Unwritable(f"operator.{name}")
        keywords = [f"{key}={text(value)}" for key, value in named.items()]
        if not self.is_named(function):
            owner = getattr(function, "__self__", None)
            if arguments and _is_method(function, name, arguments[0]) and not isinstance(owner, type):
                return f"{operand(arguments[0])}.{name}({', '.join([*map(text, arguments[1:]), *keywords])})"
            if self.is_named(owner):
                return f"{operand(owner)}.{name}({', '.join([*map(text, arguments), *keywords])})"
        callee = name if function in CONVERSIONS else text(function)
        return f"{callee}({', '.join([*map(text, arguments), *keywords])})"

    def write(self) -> None:
        """Writes what is recorded so far, since the next call may end the process."""
        self.on_call()


def _module(function: Any) -> str:
    of = getattr(function, "__module__", None) or getattr(getattr(function, "__objclass__", None), "__module__", None)
    owner = getattr(function, "__self__", None)
    if of is None and isinstance(owner, types.ModuleType):
        of = owner.__name__
    return str(of or type(function).__module__)


def _is_plain(value: object) -> bool:
    """Returns True for what is written by its content and not by a variable."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__ != "Proxy" and all(map(_is_plain, value))
    return value is None or value is Ellipsis or isinstance(value, (bool, int, float, complex, str))


def _is_method(function: Any, name: str, value: Any) -> bool:
    """Returns True for a function that is a method of this value."""
    return hasattr(function, "__objclass__") or bool(name) and getattr(type(value), name, None) is function


def _flat(values: Sequence[Any]) -> Iterator[Any]:
    for each in values:
        yield from _flat(each) if isinstance(each, (list, tuple)) else [each]


def renamed(text: str, old: str, new: str) -> str:
    """Returns an expression with another one in place of a variable."""
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", lambda _: new, text)


def install() -> None:
    """Lets the modules of the adapter that are imported from now on pass through the recorder."""
    builtins._broadcheck_recorder = RECORDER  # type: ignore[attr-defined]
    sys.meta_path.insert(0, Finder)


def is_wanted() -> bool:
    """Returns True if this process is to write the program."""
    return VARIABLE in os.environ


RECORDER: Final = Recorder()
