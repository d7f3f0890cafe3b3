"""TensorFlow as an implementation. `../README.md` is the protocol, `../python/` speaks it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import limit_memory, quiet, serve

# An allocation that is too large has to be rejected on every machine alike.
MEMORY = 8 << 30

if __name__ == "__main__":
    private = quiet()
    limit_memory(MEMORY)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    # oneDNN chooses kernels by the processor, and they round otherwise.
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    from operations import library

    serve(library(), private)
