"""Keras's ops as an implementation. `../README.md` is the protocol, `../python/` speaks it.

The backend is the one that the variable `BROADCHECK_KERAS_BACKEND` names: `numpy`, or `jax`, which the environment has, too.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import limit_memory, quiet, serve

# The loops for the processor at hand may round otherwise, as those with AVX2 do: those that all have are asked for.
os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"
# An allocation that is too large has to be rejected on every machine alike, and before it is filled.
MEMORY = 8 << 30

if __name__ == "__main__":
    private = quiet()
    limit_memory(MEMORY)
    os.environ["KERAS_BACKEND"] = os.environ.get("BROADCHECK_KERAS_BACKEND") or "numpy"
    os.environ["JAX_PLATFORMS"] = "cpu"
    from operations import library

    serve(library(), private)
