"""ONNX Runtime as an implementation. `../README.md` is the protocol, `../python/` speaks it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import quiet, serve

if __name__ == "__main__":
    private = quiet()
    from operations import library

    serve(library(), private)
