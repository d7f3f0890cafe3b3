"""The operation table as calls of PyTorch's references, `torch._refs`: the semantics of operations in Python.

In place is the reference `NAME_`. Gradients are not asked for: references record none.
"""

import inspect

import torch._refs
import torch._refs.linalg
import torch._refs.nn.functional
import torch._refs.special

import eager
from broadcheck_adapter import Sizes
from broadcheck_adapter.operation import FUNCTIONAL, IN_PLACE, OUT
from table import TABLE

GRADIENTS = ["backward", "grad"]

# References that take their arguments otherwise than the table has them.
SPECIAL = {
    "broadcast_tensors": lambda tensors: torch._refs.broadcast_tensors(*tensors),
    "meshgrid": lambda tensors, indexing="ij": torch._refs.meshgrid(*tensors, indexing=indexing),
    "broadcast_shapes": lambda shapes: Sizes(torch._refs.broadcast_shapes(*shapes)),
}


def function(name):
    """The reference, if there is one."""
    for prefix in ("special", "linalg"):
        if name.startswith(prefix + "_"):
            return getattr(getattr(torch._refs, prefix), name.removeprefix(prefix + "_"), None)
    if name in eager.OF_NETWORKS:
        return getattr(torch._refs.nn.functional, name, None)
    return getattr(torch._refs, name, None)


def forms():
    """Each operation that has a reference, and the reference for each of its forms."""
    found = {}
    for name in TABLE:
        functional, in_place = function(name), getattr(torch._refs, name + "_", None)
        each = {}
        if functional is not None and not inspect.ismodule(functional):
            each[FUNCTIONAL] = SPECIAL.get(name, functional)
            if "out" in inspect.signature(functional).parameters:
                each[OUT] = functional
        if in_place is not None:
            each[IN_PLACE] = in_place
        if each and name not in GRADIENTS:
            found[name] = each
    return found


FORMS = forms()

LACKS = [
    {"op": name, "why": f"torch._refs has no {name}"} for name in TABLE if name not in FORMS and name not in GRADIENTS
] + [
    {"op": name, "form": form, "why": f"torch._refs.{name} has no such form"}
    for name, each in FORMS.items()
    for form in (FUNCTIONAL, IN_PLACE, OUT)
    if form not in each
]  # fmt: skip


def call(name):
    """The operation as the protocol calls it."""

    def run(form, out, *arguments):
        given, named = eager.split(name, arguments, out)
        return FORMS[name][form](*given, **named)

    return run


def operations():
    return {name: call(name) for name in FORMS}
