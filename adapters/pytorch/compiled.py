"""The calls of `eager.py`, each compiled by itself with `torch.compile`, for the shapes that it is called with.

The backend is `aot_eager`: the call is traced with fake tensors, made functional, split into forward and backward, and
run again by libtorch's kernels. Inductor would compile C++ for each call, about a second every time, which is hours for
the specification; aot_eager takes a twentieth of that. What cannot be traced is called as it is, as torch.compile does.
"""

import logging

import torch
import torch._dynamo

import eager

BACKEND = "aot_eager"


def step(function, given, named):
    return function(*given, **named)


def original(error):
    """The exception that the compiler met, below its own."""
    while isinstance(error, torch._dynamo.exc.TorchDynamoException):
        below = getattr(error, "inner_exception", None) or error.__cause__ or error.__context__
        if below is None:
            break
        error = below
    return error


def compiled(function):
    def run(*given, **named):
        # Another call of the same function would be a recompilation, of which there may only be a few.
        torch.compiler.reset()
        try:
            return torch.compile(step, backend=BACKEND, dynamic=False)(function, given, named)
        except torch._dynamo.exc.TorchDynamoException as error:
            raise original(error) from error

    return run


def warm_up():
    """The first call takes seconds, forward and backward, which no program is to be charged with."""
    x = torch.ones(1, requires_grad=True)
    compiled(torch.mul)(x, x).backward()


def operations():
    # The logs of the compiler are about itself.
    logging.disable(logging.CRITICAL)
    warm_up()
    return eager.operations(compiled)
