"""JAX as an implementation, as it comes or with `--x64`. `../README.md` is the protocol, `../python/` speaks it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import limit_memory, quiet, serve

# An allocation that is too large has to be rejected on every machine alike, and before it is filled.
MEMORY = 8 << 30

if __name__ == "__main__":
    private = quiet()
    limit_memory(MEMORY)
    wide = "--x64" in sys.argv[1:]
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_ENABLE_X64"] = "1" if wide else "0"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    from operations import library

    serve(library(wide), private)
