"""tinygrad as an implementation. `../README.md` is the protocol, `../python/` speaks it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import limit_memory, quiet, serve

# An allocation that is too large has to be rejected on every machine alike, and before it is filled.
MEMORY = 4 << 30

if __name__ == "__main__":
    # Some messages print sets, whose order is that of the hashes.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    private = quiet()
    limit_memory(MEMORY)
    # The other backends for a CPU need a compiler that is not among the pinned packages.
    os.environ["DEV"] = "PYTHON"
    # Nothing is kept from one run to the next.
    os.environ["CACHELEVEL"] = "0"
    from operations import library

    serve(library(), private)
