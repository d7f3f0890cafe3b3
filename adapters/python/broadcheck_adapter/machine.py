"""What an adapter tells of the machine that it runs on, and takes of it."""

import platform
import sys


def interpreter():
    """The Python, and what it runs on."""
    return f"Python {platform.python_version()} on {sys.platform} {platform.machine()}"


def limit_memory(size):
    """Lets what is too large for memory be refused on every machine alike, and before it is filled."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
