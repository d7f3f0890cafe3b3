"""The loop over lines for a library that one program can make useless for its process, as an assertion on a GPU does.

Programs run in a worker, which is a copy of this process. After a program that has lost the library, the next one goes
to a new worker, so that it costs no other program, and none of the restarts of broadcheck.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, ClassVar, TextIO

from .library import Library
from .server import answer

# The first byte of a worker's answer: whether it answers the next request, too.
MORE, LAST = "+", "-"


class CannotRun(Exception):
    """The library cannot run on this machine, with the reason and what to do about it in one line."""


class Lost(BaseException):
    """No call of the library succeeds in this process any more. This is no `Exception`, which would be a rejection."""


def serve_by_worker(describe: Callable[[], Library[Any]], output: TextIO) -> None:
    """Answers requests, as `serve` does, by a worker that calls `describe` for the library.

    `describe` may raise `CannotRun`, and operations may raise `Lost`. If a worker ends in any other way, this process
    ends in the same way. It must not touch the device itself: a copy of a process that has done so cannot.

    Two workers are there at any time, since one that starts on a device takes seconds to do so: the second is ready when
    the first is lost.
    """
    worker, spare = Worker(describe), Worker(describe)
    for line in sys.stdin:
        if line.strip():
            reply, is_last = worker.ask(line)
            output.write(reply)
            output.flush()
            if is_last:
                worker, spare = spare, Worker(describe)
    worker.end()
    spare.end()


class Worker:
    """A copy of this process that answers requests."""

    started: ClassVar[list[Worker]] = []

    def __init__(self, describe: Callable[[], Library[Any]]) -> None:
        requests, self.requests = pipe()
        self.replies, replies = pipe()
        self.process = os.fork()
        if self.process == 0:
            # What is inherited of another worker's pipes would keep that worker from seeing their end.
            for other in Worker.started:
                other.requests.close()
                other.replies.close()
            self.requests.close()
            self.replies.close()
            work(describe, requests, replies)
            sys.exit()
        Worker.started.append(self)
        requests.close()
        replies.close()

    def ask(self, line: str) -> tuple[str, bool]:
        """Returns the answer to a line, and whether it was the last."""
        try:
            self.requests.write(line.rstrip("\n") + "\n")
            self.requests.flush()
            reply = self.replies.readline()
        except BrokenPipeError:
            reply = ""
        if not reply.endswith("\n"):
            # It ended in the middle of the program: how is for broadcheck to see.
            self.end()
            os._exit(1)
        if reply.startswith(LAST):
            self.end()
        return reply[1:], reply.startswith(LAST)

    def end(self) -> None:
        """Waits for its end. This process ends in the same way, unless that is a regular one."""
        Worker.started.remove(self)
        try:
            self.requests.close()
        except BrokenPipeError:
            pass
        self.replies.close()
        _, status = os.waitpid(self.process, 0)
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            if -code != signal.SIGKILL:
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        if code:
            os._exit(code)


def work(describe: Callable[[], Library[Any]], requests: TextIO, replies: TextIO) -> None:
    """Answers requests, as long as the library is not lost."""
    library, why = None, ""
    try:
        library = describe()
    except CannotRun as error:
        why = str(error)
    for line in requests:
        is_last = library is None
        try:
            reply = answer(library, line) if library else {"error": {"message": why}}
        except Lost as error:
            reply, is_last = lost(line, str(error)), True
        start = LAST if is_last else MORE
        replies.write(start + json.dumps(reply, separators=(",", ":"), allow_nan=False) + "\n")
        replies.flush()
        if is_last:
            # The library's cleanup at the end of a process may fail, too.
            os._exit(0)


def lost(line: str, why: str) -> dict[str, Any]:
    """Returns the answer to a program of which nothing is left: every step fails."""
    request = json.loads(line)["run"]
    program = request["program"]
    reply: dict[str, Any] = {"steps": [{"outcome": {"failed": why}}] * len(program["steps"])}
    if any(step["form"] != "functional" for step in program["steps"]):
        # Changes of the inputs are lost, too.
        reply["inputs"] = [{name: given[name] for name in ("dtype", "shape", "data")} for given in program["inputs"]]
    return {"ran": {"seq": request["seq"], "reply": reply}}


def pipe() -> tuple[TextIO, TextIO]:
    """Returns the two ends of a pipe: to read, and to write."""
    reader, writer = os.pipe()
    return os.fdopen(reader, encoding="utf-8"), os.fdopen(writer, "w", encoding="utf-8", newline="\n")
