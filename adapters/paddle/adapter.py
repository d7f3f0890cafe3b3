"""PaddlePaddle as an implementation. `../README.md` is the protocol, `../python/` speaks it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import quiet, serve

# Uninitialized memory has the same content everywhere, so that results that read it are the same, too.
FILLED = {"MALLOC_PERTURB_": "165"}

if __name__ == "__main__":
    if not FILLED.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **FILLED})
    private = quiet()
    from operations import library

    serve(library(), private)
