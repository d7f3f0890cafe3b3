"""What adapters in Python share: the protocol of `adapters/README.md`, and nothing of any library but for the module
`arrays`, which knows NumPy's.

An adapter calls `quiet()` before it imports its library, makes a `Library`, and hands it to `serve`. `operation` has
what operations are put together of, `numpy_like` how functions in NumPy's manner are called.
"""

from .library import VALUE_LIMIT, Inexpressible, Library, Refusal, Reply, Sizes, Unsupported
from .machine import interpreter, limit_memory
from .refusal import classifier
from .server import answer, quiet, serve

__all__ = [
    "VALUE_LIMIT", "Inexpressible", "Library", "Refusal", "Reply", "Sizes", "Unsupported", "answer", "classifier",
    "interpreter", "limit_memory", "quiet", "serve",
]  # fmt: skip
