"""The loop over lines. It knows the messages, and no operation."""

import json
import os
import signal
import sys
import traceback

from .library import run

PROTOCOL = 1

# How long a program that runs apart may take, in seconds.
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


def quiet():
    """Moves the real standard output aside, and pins thread pools to one thread. Call it before the library's import.

    Whatever prints from then on prints to standard error, and only what this returns reaches the harness.
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")
    private = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return private


def serve(library, output, lines=None):
    """Answers one request after the other until there are no more."""
    for line in sys.stdin if lines is None else lines:
        if line.strip():
            output.write(json.dumps(answer(library, line), separators=(",", ":"), allow_nan=False) + "\n")
            output.flush()


def answer(library, line):
    """The answer to one line."""
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


def guarded(library, program):
    """The reply to a program. What goes wrong outside of any step is the adapter's fault, in every step."""
    try:
        return run(library, program)
    except Exception as error:
        traceback.print_exc()
        failed = {"outcome": {"failed": f"{type(error).__name__}: {error}"}}
        return {"steps": [failed] * len(program["steps"])}


def apart(library, program):
    """The reply of a copy of this process, with which ends whatever the program does to memory. It has some seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(APART)
        with os.fdopen(writer, "w", encoding="utf-8") as pipe:
            json.dump(guarded(library, program), pipe, allow_nan=False)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        reply = pipe.read()
    _, status = os.waitpid(child, 0)
    if status == 0:
        return json.loads(reply)
    print(f"the program ended with status {os.waitstatus_to_exitcode(status)}", file=sys.stderr)
    # Destroyed memory may show as either.
    failed = {"outcome": {"failed": "the library ended its process, or came to no end"}}
    reply = {"steps": [failed] * len(program["steps"])}
    if any(step["form"] != "functional" for step in program["steps"]):
        # What was done to the inputs ended with the copy.
        reply["inputs"] = [{name: given[name] for name in ("dtype", "shape", "data")} for given in program["inputs"]]
    return reply
