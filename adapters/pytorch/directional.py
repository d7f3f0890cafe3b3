"""The calls of `eager.py`, with gradients from derivatives in directions: by forward mode, or by double backward.

`backward` is called as it is. `grad` then runs the program again for each element of the leaf: the derivative of the
result in the direction of the element, times the gradient that `backward` was given, is one element of the gradient.
"""

import torch
from torch.autograd import forward_ad
from torch.utils import _pytree as pytree

import eager
import tensors
from broadcheck_adapter.operation import OUT
from table import TABLE

LACKS_OF_FORWARD_MODE = [
    {"op": name, "form": OUT, "why": "functions with out= do not support forward mode"} for name in TABLE
]


class Tape:
    """The inputs of a program as they were, and its calls."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.inputs, self.calls, self.backwards = [], [], []

    def run_again(self, count, given):
        """Runs the first calls on copies of the inputs, and on the tensor that `given` has for one. Returns what takes
        the place of each tensor, by its id."""
        instead = {id(tensor): given.get(id(tensor), original.clone()) for tensor, original in self.inputs}

        def replaced(value):
            return pytree.tree_map_only(torch.Tensor, lambda each: instead.get(id(each), each), value)

        for operation, form, out, arguments, result in self.calls[:count]:
            again = operation(form, replaced(out), *replaced(arguments))
            pairs = zip(pytree.tree_leaves(result), pytree.tree_leaves(again), strict=True)
            instead |= {id(old): new for old, new in pairs}
        return instead


TAPE = Tape()


def directions(leaf):
    """Each direction in which one element of the leaf changes, with the element, and its share of the gradient."""
    for at in range(leaf.numel()):
        for share in (1, 1j) if leaf.is_complex() else (1,):
            direction = torch.zeros(leaf.numel(), dtype=leaf.dtype)
            direction[at] = share
            yield at, share, direction.view(leaf.shape)


def by_forward_mode(leaf, count, result):
    """A function that differentiates the result in a direction."""

    def along(direction):
        with forward_ad.dual_level():
            given = {id(leaf): forward_ad.make_dual(original_of(leaf), direction)}
            return forward_ad.unpack_dual(TAPE.run_again(count, given)[id(result)]).tangent

    return along


def by_double_backward(leaf, count, result):
    """The same: a gradient is linear in the gradient that it is given, and backward through it goes forward."""
    start = original_of(leaf).requires_grad_()
    end = TAPE.run_again(count, {id(leaf): start})[id(result)]
    given = torch.ones_like(end).requires_grad_()
    gradient = None
    if end.requires_grad:
        (gradient,) = torch.autograd.grad(end, start, given, create_graph=True, allow_unused=True)

    def along(direction):
        if gradient is None or not gradient.requires_grad:
            return None
        (derivative,) = torch.autograd.grad(gradient, given, direction, retain_graph=True, allow_unused=True)
        return derivative

    return along


def original_of(leaf):
    return next(original.clone() for tensor, original in TAPE.inputs if tensor is leaf)


def unmoved(derivative, leaf, at):
    """Where the result does not depend on this element of the leaf. Backward does not multiply the gradient there, which
    may be infinite. An element of its own place may depend on it with the factor 0, which backward does multiply."""
    mask = (derivative == 0).contiguous()
    if derivative.shape == leaf.shape:
        mask.view(-1)[at] = False
    return mask


def gradient_by(method):
    def grad(_form, _out, leaf):
        if leaf.grad is None or not any(tensor is leaf for tensor, _ in TAPE.inputs):
            return leaf.grad
        total = torch.zeros(leaf.numel(), dtype=leaf.dtype)
        for count, result, given in TAPE.backwards:
            along = method(leaf, count, result)
            for at, share, direction in directions(leaf):
                derivative = along(direction)
                if derivative is not None:
                    product = (given.conj() * derivative).masked_fill(unmoved(derivative, leaf, at), 0)
                    total[at] += share * product.sum().real.to(total.dtype)
        return total.view(leaf.shape)

    return grad


def make(dtype, shape, data, requires_grad):
    if TAPE.calls or TAPE.backwards:
        TAPE.clear()
    tensor = tensors.make(dtype, shape, data, requires_grad)
    TAPE.inputs.append((tensor, tensor.detach().clone()))
    return tensor


def read(tensor):
    """Without strides and storages: gradients are new tensors."""
    found = tensors.read(tensor)
    return tensors.Reply(found.dtype, found.shape, found.data)


def recorded(operation):
    def run(form, out, *arguments):
        result = operation(form, out, *arguments)
        TAPE.calls.append((operation, form, out, arguments, result))
        return result

    return run


def backward(_form, _out, result, gradient=None):
    result.backward(gradient)
    given = torch.ones_like(result) if gradient is None else gradient
    TAPE.backwards.append((len(TAPE.calls), result, given.detach().clone()))


def operations(method):
    calls = {name: recorded(operation) for name, operation in eager.operations().items()}
    return calls | {"backward": backward, "grad": gradient_by(method)}
