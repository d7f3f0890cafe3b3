"""CuPy as an implementation. `../README.md` is the protocol, `../python/` speaks it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import quiet
from broadcheck_adapter.worker import serve_by_worker


def describe():
    from operations import library

    return library()


if __name__ == "__main__":
    serve_by_worker(describe, quiet())
