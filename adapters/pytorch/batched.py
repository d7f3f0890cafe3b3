"""The calls of `eager.py`, each by `torch.func.vmap`: a tensor of a program is a batch of equal tensors.

The batch is the first dimension, and views and writes in place are those of the batch. The slices of a result have to
be equal, and the first is reported. `backward` and `grad` are called on the whole batch, as in
`torch.func.vmap(f)(x).sum().backward()`.
"""

import torch
from torch.utils import _pytree as pytree

import eager
import tensors
from broadcheck_adapter import Inexpressible
from broadcheck_adapter.operation import OUT
from table import SAMPLERS, TABLE

# The number of equal tensors in a batch.
SIZE = 2

# Operations whose result depends on elements, which vmap rejects.
VALUES = ["item", "masked_select", "equal", "allclose"]

LACKS = [
    *({"op": name, "form": OUT, "why": "vmap does not batch a call with out="} for name in TABLE),
    *({"op": name, "why": "vmap rejects a result that depends on elements"} for name in VALUES),
    {"op": "result_type", "why": "vmap returns tensors alone"},
]


def batch_of(tensor):
    return torch.stack([tensor] * SIZE)


def make(dtype, shape, data, requires_grad):
    """A batch of equal tensors of those bytes."""
    return batch_of(tensors.make(dtype, shape, data, False)).requires_grad_(requires_grad)


def read(batch):
    """The first slice. Strides and storages are those of the batch, and are not reported."""
    first = tensors.read(batch.detach()[0])
    return tensors.Reply(first.dtype, first.shape, first.data)


def same(batch):
    """The batch, whose slices have to be equal up to rounding, which may depend on an element's place in memory."""
    first, *others = batch.detach().unbind()
    for other in others:
        if tensors.elements(first) != tensors.elements(other) and not torch.allclose(first, other, equal_nan=True):
            raise Inexpressible("the slices of the result differ")
    return batch


def call(name, operation):
    """The operation by vmap over all of its operands. Random numbers differ from slice to slice."""
    checked = (lambda batch: batch) if name in SAMPLERS else same

    def run(form, out, *arguments):
        leaves, structure = pytree.tree_flatten(arguments)
        operands = [leaf for leaf in leaves if tensors.is_tensor(leaf)]
        if not operands:
            return pytree.tree_map_only(torch.Tensor, batch_of, operation(form, out, *arguments))

        def of_a_slice(*slices):
            rest = iter(slices)
            filled = [next(rest) if tensors.is_tensor(leaf) else leaf for leaf in leaves]
            return operation(form, out, *pytree.tree_unflatten(filled, structure))

        return pytree.tree_map(checked, torch.func.vmap(of_a_slice, randomness="different")(*operands))

    return run


def backward(_form, _out, batch, gradient=None):
    if gradient is None and batch[0].numel() == 1:
        gradient = torch.ones_like(batch)
    batch.backward(gradient)


OPERATIONS = {"backward": backward, "grad": lambda _form, _out, batch: batch.grad}


def operations():
    others = [*VALUES, "result_type"]
    calls = {name: call(name, operation) for name, operation in eager.operations().items() if name not in others}
    return calls | OPERATIONS
