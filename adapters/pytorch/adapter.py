"""PyTorch's Python front end as an implementation. `../README.md` is the protocol, `../python/` speaks it.

    adapter.py [--mode MODE]

`modes.py` says what the modes are, and has their names.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from broadcheck_adapter import quiet, serve
from broadcheck_adapter.worker import serve_by_worker

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="eager")
    mode = parser.parse_args().mode
    private = quiet()
    import modes

    if mode not in modes.MODES:
        parser.error(f"no mode is called {mode!r}: there are {', '.join(modes.MODES)}")
    if mode == "device":
        serve_by_worker(modes.MODES[mode], private)
    else:
        serve(modes.MODES[mode](), private)
