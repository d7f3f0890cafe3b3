"""An operation in the forms in which a library has it."""

from dataclasses import dataclass

FUNCTIONAL, IN_PLACE, OUT = "functional", "in_place", "out"


@dataclass(frozen=True)
class Operation:
    """A function for each form, None where the library has no such form. Only that of `out` is told a target."""

    functional: callable = None
    in_place: callable = None
    out: callable = None

    def __call__(self, form, out, *arguments):
        named = {"out": out} if form == OUT else {}
        return getattr(self, form)(*arguments, **named)


def table(entries):
    """The operations by their names. A plain function among them has a result, and writes to nothing."""
    return {name: each if isinstance(each, Operation) else Operation(each) for name, each in entries.items()}


def with_out(function):
    """A function that has `out=`."""
    return Operation(function, out=function)


def in_place(function):
    """What is only done in place, by a function that changes its first argument."""
    return Operation(in_place=changing(function))


def binary(function, operator=None):
    """A function of two operands, whose other parameters keep their defaults, and its operator, such as `+=`."""
    return Operation(of_two(function), operator and of_two(assigning(operator)))


def of_two(function):
    return lambda left, right, *_defaults, **named: function(left, right, **named)


def changing(function):
    """A function that changes its first argument, which is looked at whatever the function returns."""

    def call(target, *arguments, **named):
        function(target, *arguments, **named)
        return target

    return call


def assigning(operator):
    """An operator that changes its first operand, and is wrong if it gives another one."""

    def call(left, right):
        result = operator(left, right)
        assert result is left, "an operator in place gave another array"
        return result

    return call


def lacking_forms(operations, reasons):
    """What `hello` says of the forms that operations do not have, where there is a reason for the form."""
    return [
        {"op": name, "form": form, "why": why}
        for name, operation in operations.items()
        for form, why in reasons.items()
        if getattr(operation, form) is None
    ]


def lacking_arguments(reasons):
    """What `hello` says of arguments that a library does not take: a reason for each operation and name."""
    return [{"op": op, "argument": argument, "why": why} for (op, argument), why in reasons.items()]
