"""MindSpore as an implementation. `../README.md` is the protocol, `../python/` speaks it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import limit_memory, quiet, serve

# An allocation that is too large has to be rejected on every machine alike.
MEMORY = 8 << 30

if __name__ == "__main__":
    private = quiet()
    limit_memory(MEMORY)
    os.environ["GLOG_v"] = "4"
    from operations import library

    serve(library(), private)
