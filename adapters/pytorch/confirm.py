"""Runs programs in PyTorch's Python, each in a process of its own.

    python3 adapters/pytorch/confirm.py < programs.json

`programs.json` is a list of `{"id": …, "text": …}`. A line of JSON is printed for each: its `id`, the `code` that it
ended with or the `signal` that ended it (neither, if it was ended after `SECONDS`), and what it printed, `out` and `err`.
The code is `RAISED` after an exception, and `NO_SUCH_CALL` if that says that this PyTorch has no such function or argument.
PyTorch is imported once, and each process is forked from that state. `broadcheck confirm` starts this.
"""

import json
import os
import resource
import sys
import tempfile
import time
import traceback

import torch

SECONDS = 60
RAISED, NO_SUCH_CALL = 1, 2


def run(text):
    """Runs a program to its end, or for `SECONDS`."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            code = 0
            try:
                exec(compile(text, "program", "exec"), {"__name__": "__main__"})
            except BaseException as error:
                traceback.print_exc()
                code = NO_SUCH_CALL if isinstance(error, (AttributeError, TypeError)) else RAISED
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        status = wait(child)
        printed = {}
        for name, file in [("out", out), ("err", err)]:
            file.seek(0)
            printed[name] = file.read().decode("utf-8", "replace")
    if status is None:
        return printed
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status), **printed}
    return {"code": os.WEXITSTATUS(status), **printed}


def wait(child):
    """The status that a process ended with; `None` if it had to be ended."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.002)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def main():
    # A crash is expected of some: it leaves no file behind.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    programs = json.load(sys.stdin)
    print(json.dumps({"torch": torch.__version__.split("+")[0]}), flush=True)
    for program in programs:
        print(json.dumps({"id": program["id"], **run(program["text"])}), flush=True)


if __name__ == "__main__":
    main()
