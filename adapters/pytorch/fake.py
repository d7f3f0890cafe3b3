"""The calls of `eager.py` on fake tensors with symbolic sizes, as a compiler and torch.export trace with.

Each input has a symbol for each of its sizes. A size of a result is an expression in them, whose value for the inputs at
hand is reported. Fake tensors have no elements.
"""

import logging

import torch
from torch._dynamo.source import LocalSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

import eager
import tensors

# Operations that read elements.
VALUES = ["item", "masked_select", "equal", "allclose"]

LACKS = [{"op": name, "why": "fake tensors have no elements to look at"} for name in VALUES]


class Trace:
    """The fake tensors of one program, with the symbols of their sizes."""

    def __init__(self):
        self.clear()

    def clear(self):
        environment = ShapeEnv(allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False)
        self.mode, self.inputs, self.is_begun = FakeTensorMode(shape_env=environment), 0, False

    def make(self, dtype, shape, _data, requires_grad):
        if self.is_begun:
            self.clear()
        tensor = torch.empty(shape, dtype=tensors.dtypes[dtype], requires_grad=requires_grad)
        sizes = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * tensor.dim())
        self.inputs += 1
        source = LocalSource(f"input_{self.inputs}")
        return self.mode.from_tensor(tensor, symbolic_context=sizes, source=source)

    def traced(self, function):
        def run(*given, **named):
            self.is_begun = True
            with self.mode:
                return function(*given, **named)

        return run


TRACE = Trace()


def value_of(size):
    """The value of an expression for the inputs at hand, without a guard on it."""
    return size.node.hint if isinstance(size, torch.SymInt) else size


def read(tensor):
    dtype = str(tensor.dtype).removeprefix("torch.")
    key = (tensor.untyped_storage()._cdata, value_of(tensor.storage_offset()))
    shape, strides = ([value_of(size) for size in sizes] for sizes in (tensor.shape, tensor.stride()))
    return tensors.Reply(dtype, shape, b"", strides, key)


def operations():
    # The logs are about the meta kernels that raise.
    logging.disable(logging.CRITICAL)
    calls = eager.operations(TRACE.traced)
    return {name: call for name, call in calls.items() if name not in VALUES}
