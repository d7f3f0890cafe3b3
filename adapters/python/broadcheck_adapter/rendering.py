"""A program of the protocol as one in the library's own calls, which prints its results.

It is made while the program runs, of what the recorder has seen, and written before each call, so that the file has the
call that ends the process, too.
"""

from __future__ import annotations

import json
import keyword
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .library import Json, Library, Rejection, Unsupported, run
from .literal import Unwritable
from .recording import RECORDER, VARIABLE, renamed

# The variables that `quiet` sets, which change no result.
INDIFFERENT = re.compile(r"_NUM_THREADS$|^VECLIB_|^XLA_FLAGS$|^BROADCHECK")
ASSIGNMENT = re.compile(r"^[^('\"]*? (\*\*|//|<<|>>|[-+*/%@&|^])?= |^[^=]*\] = ")
# What has no effect but its result.
HARMLESS = re.compile(r"np\.(asarray|isnan)\(|[^(]* == ")
# The names that a program uses itself.
TAKEN = {"error", "os", "np", "_"}


def run_and_render(library: Library[Any], program: Json) -> Json:
    """Returns the reply to one program, and writes the program to the file that the variable names."""
    rendering = Rendering(library, program)
    RECORDER.clear()
    rendering.body += RECORDER.settings_before()
    RECORDER.is_tensor, RECORDER.on_call = library.is_tensor, rendering.write
    ops = {name: rendering.step(function) for name, function in library.ops.items()}
    rendered = replace(library, make=rendering.input(library.make), ops=ops)
    try:
        return run(rendered, program, rendering.begin)
    finally:
        rendering.is_done = True
        rendering.write()


class Rendering:
    """The text of a program, as far as it has run."""

    def __init__(self, library: Library[Any], program: Json) -> None:
        self.library = library
        self.names = [_variable(each["name"]) for each in program["inputs"]]
        self.inputs = list(self.names)
        self.tensors: list[tuple[str, Any]] = []
        self.changes = any(step["form"] != "functional" for step in program["steps"])
        self.body: list[str] = []
        self.prints: list[str] = []
        self.current: Json | None = None
        self.is_done = False

    def input(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Makes an input, and writes how."""

        def made(*given: Any) -> Any:
            name = self.inputs.pop(0)
            tensor = self.recorded(lambda: make(*given), name, is_input=True)
            self.tensors.append((name, tensor))
            return tensor

        return made

    def begin(self, step: Json) -> None:
        """Takes notice of the step that runs next."""
        self.current = step

    def step(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Runs a step, and writes its calls."""

        def called(*given: Any) -> Any:
            assert self.current
            return self.recorded(lambda: function(*given), _variable(self.current["name"]))

        return called

    def recorded(self, call: Callable[[], Any], name: str, is_input: bool = False) -> Any:
        """Records a call. Its result has this name."""
        RECORDER.lines.clear()
        RECORDER.plain.clear()
        RECORDER.is_on, RECORDER.is_making, RECORDER.pending = True, is_input, None
        try:
            result = call()
        except Exception as error:
            RECORDER.is_on = False
            self.raised(name, error)
            raise
        RECORDER.is_on, RECORDER.pending = False, None
        try:
            lines = self.finished(name, result, is_input)
        except Unwritable as error:
            RECORDER.why = RECORDER.why or str(error)
            return result
        self.body += lines
        if not is_input:
            self.show(name, result)
        elif "np." not in "".join(lines):
            # It is made of bytes.
            self.show(name, result, is_comment=True)
        return result

    def finished(self, name: str, result: Any, is_input: bool) -> list[str]:
        """Returns the statements of a call that has returned."""
        lines = list(RECORDER.lines)
        if result is None:
            return _statements(lines)
        if is_input and not RECORDER.is_named(result):
            lines.append((name, RECORDER.literals.text(result)))
        elif RECORDER.is_named(result):
            text = RECORDER.named[id(result)][1]
            if text.startswith("_") and any(variable == text for variable, _ in lines):
                lines = [(name if of == text else of, renamed(line, text, name)) for of, line in lines]
            else:
                lines.append((name, text))
        elif known := [number for number, plain in RECORDER.plain if _same(plain, result)]:
            lines[known[-1]] = (name, lines[known[-1]][1])
        else:
            lines.append((name, RECORDER.literals.text(list(result) if isinstance(result, list) else result)))
        if not isinstance(result, (bool, int, float, complex, str, tuple)):
            RECORDER.name(result, name)
        if isinstance(result, (list, tuple)):
            for at, each in enumerate(result):
                if self.library.is_tensor(each):
                    RECORDER.name(each, f"{name}[{at}]")
        return _statements(lines)

    def raised(self, name: str, error: Exception) -> None:
        """Writes the call that raised, and prints the error."""
        if RECORDER.pending is None:
            self.body.append(f"# {name}: the adapter rejects this itself: {_one_line(str(error))}")
        else:
            lines = _statements([*RECORDER.lines, self.unfinished(name, RECORDER.pending)])
            # The adapter may have worded it anew. An address is another one each time.
            own = RECORDER.error or error
            said = [] if re.search(r"\b0x[0-9a-f]{6}", str(own)) else str(own).splitlines()[:1]
            message = ", *str(error).splitlines()[:1]" if said else ""
            show = f'print("{name}:", type(error).__name__{message})'
            self.body += ["try:", *(f"    {line}" for line in lines), "except Exception as error:", f"    {show}"]
            self.prints.append(_printed(f"{name}:", type(own).__name__, *said))
        RECORDER.pending = None

    def unfinished(self, name: str, text: str) -> tuple[str | None, str]:
        """Returns the line of a call that has not returned. An assignment is a statement, and has no result."""
        return None if ASSIGNMENT.match(text) else name, text

    def show(self, name: str, value: Any, is_comment: bool = False) -> None:
        """Prints a value, with its dtype and its shape if it has them."""
        if isinstance(value, (list, tuple)) and value and all(map(self.library.is_tensor, value)):
            for at, each in enumerate(value):
                self.show(f"{name}[{at}]", each)
            return
        forms = ["{0}.dtype, {0}.tolist()", "{0}.dtype, {0}.numpy().tolist()", "{0}.dtype, {0}.compute().tolist()"]
        forms += ["{0}.dtype, np.asarray({0}).tolist()", "*str({0}).split()"]
        if not self.library.is_tensor(value):
            forms = ["{0}"]
        for form in forms:
            try:
                shown = eval(f"({form.format('value')},)", {"value": value, "np": sys.modules.get("numpy")})
            except Exception:
                continue
            if "np." in form:
                RECORDER.literals.need("np", "numpy")
            if is_comment:
                self.body.append(f"# {_printed(f'{name}:', *shown)}")
                return
            self.body.append(f'print("{name}:", {form.format(name)})')
            self.prints.append(_printed(f"{name}:", *shown))
            return

    def write(self) -> None:
        """Writes the program to the file."""
        body, prints = list(self.body), list(self.prints)
        if self.is_done and self.changes:
            begun = len(self.body)
            for name, tensor in self.tensors:
                self.show(name, tensor)
            body, prints = self.body, self.prints
            assert len(self.body) >= begun
        if RECORDER.pending is not None and self.current:
            last = [*RECORDER.lines, self.unfinished(_variable(self.current["name"]), RECORDER.pending)]
            body += [*_statements(last), "# The process does not survive this call, or it does not return."]
        literals, text = RECORDER.literals, "\n".join(body)
        heads = {literals.imports[each] for each in literals.used if each in literals.imports and _uses(text, each)}
        changed = {name: value for name, value in (RECORDER.environment or {}).items() if not INDIFFERENT.search(name)}
        variables = [f"os.environ[{_quoted(name)}] = {_quoted(value)}" for name, value in sorted(changed.items())]
        lines = ["python", *(["import os", "", *variables, ""] if variables else [])]
        lines += [*sorted(heads, key=_order), "", *body]
        lines += [f"# prints: {each}" if at == 0 else f"# {each}" for at, each in enumerate(prints)]
        if RECORDER.why:
            print(f"the program is not written: {RECORDER.why}", file=sys.stderr)
            lines = ["python"]
        Path(os.environ[VARIABLE]).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _statements(lines: list[tuple[str | None, str]]) -> list[str]:
    """Returns assignments, with a variable that is used once in the place where it is used."""
    lines = list(lines)
    at = 0
    while at + 1 < len(lines):
        name, text = lines[at]
        uses = [len(re.findall(rf"(?<![\w.]){re.escape(name or '')}(?!\w)", line)) for _, line in lines[at + 1 :]]
        if (name or "_").startswith("_") and (not name or not sum(uses)) and HARMLESS.match(text):
            del lines[at]
        elif name and name.startswith("_") and uses[0] == sum(uses) == 1:
            is_operation = re.search(r" [^\w\s(\[{\"',]+ ", re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", text))
            lines[at + 1] = (lines[at + 1][0], renamed(lines[at + 1][1], name, f"({text})" if is_operation else text))
            del lines[at]
            at = max(at - 1, 0)
        else:
            at += 1
    return [text if name is None or name == text else f"{name} = {text}" for name, text in lines]


def _same(last: Any, result: Any) -> bool:
    return last is result or (type(last) is type(result) and repr(last) == repr(result))


def _variable(name: str) -> str:
    """Returns a name that Python takes for a variable, and that no module has."""
    plain = re.sub(r"\W", "_", name)
    roots = {alias for alias, _ in RECORDER.literals.roots()}
    is_free = plain.isidentifier() and not keyword.iskeyword(plain) and plain not in TAKEN | roots
    return plain if is_free and not plain.startswith("_") else f"v_{plain}"


def _order(line: str) -> tuple[bool, str]:
    return line.startswith("from "), line


def _quoted(text: str) -> str:
    return json.dumps(text)


def _uses(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}\.|(?<![\w.]){re.escape(name)}\(", text) is not None


def _printed(*values: Any) -> str:
    return _one_line(" ".join(map(str, values)))


def _one_line(text: str) -> str:
    """Returns a text on one line, without what a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text).strip()
