"""The description of the machine that an adapter runs on, and the limit of its memory."""

import platform
import sys


def interpreter() -> str:
    """Returns the Python and its platform: a part of `build`."""
    return f"Python {platform.python_version()} on {sys.platform} {platform.machine()}"


def limit_memory(size: int) -> None:
    """Limits the address space to so many bytes, on Linux, unless it is limited to fewer. An allocation that is too large
    then fails at once, and on every machine alike."""
    if sys.platform == "linux":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY or size <= most:
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
