"""The calls of `eager.py`, each exported by `torch.export` for the shapes of its operands, and the program run on them.

The exported program is decomposed into the core operators of ATen, without writes in place, as backends take it. A
write to an operand is one more result, which is copied back at the end.
"""

import warnings

import torch
from torch._export.utils import _is_preservable_cia_op as is_composite
from torch.export import exported_program

import traced

LACKS = traced.LACKS


# The default table without the composite operators, which decompose by themselves: torch.export overrides each of them
# for each program with the same decomposition, which takes most of the time.
DECOMPOSITIONS = {
    operator: function
    for operator, function in torch.export.default_decompositions().items()
    if not is_composite(operator)
}
exported_program._collect_all_valid_cia_ops = set


class Call(torch.nn.Module):
    """A call, as the module that is exported."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *operands):
        return self.function(*operands)


def program_of(function, operands):
    """The exported program of a call. Its warnings are those of the meta kernels and of the exporter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Call(function), tuple(operands), strict=False)
        return program.run_decompositions(dict(DECOMPOSITIONS)).module()


def exported(function):
    def run(*given, **named):
        of_operands, operands = traced.by_operands(function, given, named)
        if not operands:
            return of_operands()
        return traced.on_the_graph(program_of(of_operands, operands), operands)

    return run


def operations():
    # The first export takes seconds, which no program is to be charged with.
    exported(torch.mul)(torch.ones(1), torch.ones(1))
    return traced.operations(exported)
