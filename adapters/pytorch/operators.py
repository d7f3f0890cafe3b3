"""The calls of `eager.py` as Python code spells them: by operators, by assignment to `x[...]`, and by the other names
that operations have. An operation with neither operator nor other name is called as `eager.py` calls it.

An operator calls the method of its left operand: `x + 1` is `Tensor.__add__`. If a scalar stands on the left, Python
calls the reflected method of the tensor: `1 - x` is `Tensor.__rsub__`, and `3 < x` is `Tensor.__gt__` with the operands
swapped. A shape is a torch.Size, as a tensor's `shape` is.
"""

import operator

import torch

import eager
from broadcheck_adapter import Inexpressible, array_api
from broadcheck_adapter.numpy_like import by_tensors
from broadcheck_adapter.operation import FUNCTIONAL, IN_PLACE, OUT
from table import ALIASES

# The operator between the two operands.
BETWEEN = {
    "add": operator.add,
    "sub": operator.sub,
    "rsub": lambda x, other: other - x,
    "mul": operator.mul,
    "div": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "pow": operator.pow,
    "matmul": operator.matmul,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift,
    "bitwise_right_shift": operator.rshift,
}


def augmented(operation):
    """The augmented assignment, which fails if it rebinds the name to another tensor than its target."""

    def call(target, other):
        result = operation(target, other)
        if result is not target:
            raise Inexpressible("the augmented assignment returned another tensor than its target")
        return target

    return call


def overwrite(target, values):
    target[...] = values
    return target


def put(target, indices, values):
    target[by_tensors(indices)] = values
    return target


SPELLED = {
    FUNCTIONAL: BETWEEN,
    IN_PLACE: {
        # The augmented assignment falls back to the operator and rebinds the name if the tensor has no method for it.
        **{name: augmented(operation) for name, operation in array_api.OPERATORS.items()},
        "copy": overwrite,
        "index_put": put,
    },
    OUT: {},
}


def spelled(name, form, given, named):
    """The operator, or the assignment to `x[...]`; None if there is none for these arguments."""
    # An operator between two scalars is Python's own.
    tensors = any(isinstance(each, torch.Tensor) for each in given[:2])
    return SPELLED[form].get(name) if tensors and not named else None


def alias(name, form, named):
    """The function of another name, or None. Where there are two names, the options decide which."""
    names = ALIASES.get(name)
    if names is None:
        return None
    other = names[-1] if named.keys() <= {"out"} else names[0]
    return getattr(torch.Tensor, other + "_", None) if form == IN_PLACE else eager.function(other)


def call(name, otherwise):
    """The operation as the protocol calls it."""

    def run(form, out, *arguments):
        if name == "broadcast_shapes":
            (shapes,) = arguments
            arguments = ([torch.Size(shape) if isinstance(shape, list) else shape for shape in shapes],)
        if name in eager.SPECIAL:
            return otherwise(form, out, *arguments)
        given, named = eager.split(name, arguments, out)
        function = spelled(name, form, given, named) or alias(name, form, named)
        return otherwise(form, out, *arguments) if function is None else function(*given, **named)

    return run


def operations():
    """A function for each operation. `eager.py` has `x[...]` among them."""
    return {name: call(name, otherwise) for name, otherwise in eager.operations().items()}
