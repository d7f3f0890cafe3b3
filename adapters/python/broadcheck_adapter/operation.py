"""Operations in the forms in which a library has them, and how `hello` says which it lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from .library import Lack

Form = Literal["functional", "in_place", "out"]
"""Where the result goes: into a new tensor, into the first argument, or into the tensor that `out=` names."""

FUNCTIONAL: Final = "functional"
IN_PLACE: Final = "in_place"
OUT: Final = "out"

Function = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """A function of the library for each form, None where the library has no such form.

    Each is called with the arguments of the operation in the order that `broadcheck ops` prints. That of `out` is also
    given the target, as the keyword `out`.
    """

    functional: Function | None = None
    in_place: Function | None = None
    out: Function | None = None

    def __call__(self, form: Form, out: Any, *arguments: Any) -> Any:
        function = getattr(self, form)
        if function is None:
            raise NotImplementedError(f"there is no {form} form, and `lacks` does not say so: see `lacking_forms`")
        return function(*arguments, out=out) if form == OUT else function(*arguments)


def table(entries: Mapping[str, Function]) -> dict[str, Operation]:
    """Returns the operations by their names. A plain function among the entries has the functional form alone."""
    return {name: each if isinstance(each, Operation) else Operation(each) for name, each in entries.items()}


def with_out(function: Function) -> Operation:
    """Returns the operation of a function that takes `out=`."""
    return Operation(function, out=function)


def in_place(function: Function) -> Operation:
    """Returns an operation that only has the in-place form, by a function that changes its first argument."""
    return Operation(in_place=changing(function))


def binary(function: Function, operator: Function | None = None) -> Operation:
    """Returns the operation of a function of two operands, whose other parameters keep their defaults, and of its
    in-place operator, such as `operator.iadd`."""
    return Operation(of_two(function), of_two(assigning(operator)) if operator else None)


def of_two(function: Function) -> Function:
    """Calls a function of two operands without the arguments that follow them, which have their defaults."""
    return lambda left, right, *_defaults, **named: function(left, right, **named)


def changing(function: Function) -> Function:
    """Calls a function that changes its first argument, and returns that argument whatever the function returns."""

    def call(target: Any, *arguments: Any, **named: Any) -> Any:
        function(target, *arguments, **named)
        return target

    return call


def assigning(operator: Function) -> Function:
    """Calls an operator that has to change its first operand. If it returns another object, the step fails."""

    def call(left: Any, right: Any) -> Any:
        result = operator(left, right)
        assert result is left, "an operator in place gave another array"
        return result

    return call


def lacking_forms(operations: Mapping[str, Operation], reasons: Mapping[Form, str]) -> list[Lack]:
    """Returns the entries of `lacks` for the forms that operations do not have, where a form has a reason."""
    return [
        {"op": name, "form": form, "why": why}
        for name, operation in operations.items()
        for form, why in reasons.items()
        if getattr(operation, form) is None
    ]


def lacking_arguments(reasons: Mapping[tuple[str, str], str]) -> list[Lack]:
    """Returns the entries of `lacks` for arguments that a library does not take: a reason for each operation and
    parameter."""
    return [{"op": op, "argument": argument, "why": why} for (op, argument), why in reasons.items()]
