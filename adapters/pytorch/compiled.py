"""The calls of `eager.py`, each compiled by itself with `torch.compile`.

With the backend `aot_eager` the call is traced with fake tensors, made functional, split into forward and backward, and
run again by libtorch's kernels, for the shapes that it is called with. With `inductor` it is C++ code for the processor,
made for the sizes of one call, or for sizes that are symbols, so that one compilation serves all programs that call the
operation with the same dtypes and ranks; sizes of 0 and 1 have code of their own. A compilation takes aot_eager a twentieth of
a second, and inductor one: the specification takes it an hour, and campaigns are of some hundred programs. What cannot be
traced is called as it is, as torch.compile does.
"""

import atexit
import logging
import os
import pathlib
import re
import shutil
import tempfile
import types

import torch
import torch._dynamo

import eager

# Where the code lies that the compiler has written, which errors of the code begin with.
PLACE = re.compile(r"/\S*/(?:\w+\.)?(\w+\.(?:cpp|h)):\d+")

# What processes that have ended left behind begins with this; the number of the process follows.
CACHES = "broadcheck-inductor-"


def runs(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def keep_code_apart():
    """Generated code lies in a folder of this process. In the common one it may be that of a process that was killed
    while it wrote, which is found again, and loaded."""
    for left in pathlib.Path(tempfile.gettempdir()).glob(f"{CACHES}*"):
        process = left.name.removeprefix(CACHES)
        if process.isdecimal() and not runs(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    own = pathlib.Path(tempfile.gettempdir(), f"{CACHES}{os.getpid()}")
    # torch has set it to the common one when it was imported.
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(own)
    atexit.register(shutil.rmtree, own, ignore_errors=True)


# More than an operation is compiled for in any campaign.
COMPILATIONS = 1_000_000


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


def for_its_shapes(backend):
    """A compilation for each call, whose sizes are constants."""

    def around(function):
        def run(given, named):
            # Another call of the same function would be a recompilation, of which there may only be a few.
            torch.compiler.reset()
            return torch.compile(step, backend=backend, dynamic=False)(function, given, named)

        return guarded(run)

    return around


def for_symbols(function):
    """A compilation for each set of dtypes and ranks, kept by code of its own, so that no other's are searched."""
    own = types.FunctionType(step.__code__.replace(co_name=getattr(function, "__name__", "step")), globals())
    compiled = torch.compile(own, backend="inductor", dynamic=True)
    return guarded(lambda given, named: compiled(function, given, named))


def guarded(compiled):
    def run(*given, **named):
        try:
            return compiled(given, named)
        except torch._dynamo.exc.TorchDynamoException as error:
            raise original(error) from error
        except RuntimeError as error:
            error.args = (PLACE.sub(r"\1", str(error)), *error.args[1:])
            raise

    return run


def warm_up(around):
    """The first call takes seconds, forward and backward, which no program is to be charged with."""
    x = torch.ones(1, requires_grad=True)
    around(torch.mul)(x, x).backward()


def operations(around):
    # The logs of the compiler are about itself.
    logging.disable(logging.CRITICAL)
    keep_code_apart()
    torch._dynamo.config.recompile_limit = COMPILATIONS
    torch._dynamo.config.accumulated_recompile_limit = COMPILATIONS
    warm_up(around)
    return eager.operations(around)
