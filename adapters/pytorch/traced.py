"""The calls of `eager.py`, each traced by `make_fx` with symbolic sizes, and the graph run on the operands.

The trace sees fake tensors, whose sizes are symbols, as those of a compiler with dynamic shapes and of torch.export.
"""

import logging
import re
import warnings

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

import eager
import tensors

# Operations that return a number that depends on elements, which a trace has no value for.
VALUES = ["item", "equal", "allclose"]

LACKS = [{"op": name, "why": "a trace has no elements to look at"} for name in VALUES]


# An expression in sizes, for which libtorch's message has a number: with one, the class of the message is found.
EXPRESSION = re.compile(r"\b(\d+\*)?s\d+([*x]s?\d+| [-+] s?\d+)*\b")


def graph_of(function, operands):
    """The graph of a call, whose warnings are those of the meta kernels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make_fx(function, tracing_mode="symbolic")(*operands)
    except Exception as error:
        error.args = (EXPRESSION.sub("2", str(error)), *error.args[1:])
        raise


def traced(function):
    def run(*given, **named):
        of_operands, operands = by_operands(function, given, named)
        if not operands:
            return of_operands()
        return on_the_graph(graph_of(of_operands, operands), operands)

    return run


def by_operands(function, given, named):
    """The call as a function of its tensors alone, and the tensors."""
    leaves, structure = pytree.tree_flatten((given, named))

    def of_operands(*operands):
        rest = iter(operands)
        filled = [next(rest) if tensors.is_tensor(leaf) else leaf for leaf in leaves]
        positional, by_name = pytree.tree_unflatten(filled, structure)
        return function(*positional, **by_name)

    return of_operands, [leaf for leaf in leaves if tensors.is_tensor(leaf)]


def on_the_graph(graph, operands):
    try:
        return graph(*operands)
    except NameError as error:
        # The code of the graph is PyTorch's: this is no mistake of the adapter.
        raise RuntimeError(str(error)) from error


# What is of autograd and not of the graph.
AUTOGRAD = ["backward", "grad"]


def operations(around=traced):
    # The logs are about the meta kernels that raise.
    logging.disable(logging.CRITICAL)
    calls = {name: call for name, call in eager.operations(around).items() if name not in VALUES}
    return calls | {name: call for name, call in eager.operations().items() if name in AUTOGRAD}
