"""The loop over lines. It knows the messages, and no operation."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Iterable
from typing import Any, TextIO

from . import recording
from .library import Json, Library, run
from .rendering import run_and_render

PROTOCOL = 1
"""The version of the protocol that this speaks."""

# The seconds that a program in a process of its own may take.
APART = 10

# Each of the libraries below those that are tested has a variable of its own for the size of its thread pool.
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "BLIS_NUM_THREADS",
)


def quiet() -> TextIO:
    """Returns the real standard output, points file descriptor 1 at standard error, and pins thread pools to one
    thread.

    Call it before the library is imported. Whatever prints from then on prints to standard error, and only what is
    written to the returned file reaches broadcheck.
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")
    private = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return private


def serve(library: Library[Any], output: TextIO, lines: Iterable[str] | None = None) -> None:
    """Answers requests, one a line, until there are no more. They are read from standard input, unless `lines` are
    given."""
    for line in sys.stdin if lines is None else lines:
        if line.strip():
            output.write(json.dumps(answer(library, line), separators=(",", ":"), allow_nan=False) + "\n")
            output.flush()


def answer(library: Library[Any], line: str) -> Json:
    """Returns the answer to one line."""
    try:
        request = json.loads(line)
    except ValueError as error:
        return {"error": {"message": f"not a request: {error}"}}
    match request:
        case {"hello": {"protocol": int()}}:
            return {"hello": {"protocol": PROTOCOL, "hello": library.hello()}}
        case {"run": {"seq": int(seq), "program": {"inputs": list(), "steps": list()} as program}}:
            alone = any(step["op"] in library.apart for step in program["steps"])
            return {"ran": {"seq": seq, "reply": (apart if alone else guarded)(library, program)}}
    return {"error": {"message": "not a request: it is neither `hello` nor `run`"}}


def guarded(library: Library[Any], program: Json) -> Json:
    """Returns the reply to a program. An exception outside of any step is the adapter's mistake: every step fails."""
    try:
        return (run_and_render if recording.is_wanted() else run)(library, program)
    except Exception as error:
        traceback.print_exc()
        failed = {"outcome": {"failed": f"{type(error).__name__}: {error}"}}
        return {"steps": [failed] * len(program["steps"])}


def apart(library: Library[Any], program: Json) -> Json:
    """Returns the reply of a copy of this process, which has `APART` seconds. Memory that the program corrupts ends
    with the copy."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(APART)
        with os.fdopen(writer, "w", encoding="utf-8") as pipe:
            json.dump(guarded(library, program), pipe, allow_nan=False)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if status == 0:
        reply: Json = json.loads(text)
        return reply
    print(f"the program ended with status {os.waitstatus_to_exitcode(status)}", file=sys.stderr)
    # Destroyed memory may show as either.
    failed = {"outcome": {"failed": "the library ended its process, or came to no end"}}
    reply = {"steps": [failed] * len(program["steps"])}
    if any(step["form"] != "functional" for step in program["steps"]):
        # Changes of the inputs ended with the copy.
        reply["inputs"] = [{name: given[name] for name in ("dtype", "shape", "data")} for given in program["inputs"]]
    return reply
