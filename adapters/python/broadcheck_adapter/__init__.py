"""What adapters in Python share: the protocol of `adapters/README.md`, and nothing of any library.

An adapter calls `quiet()` before it imports its library, makes a `Library`, and hands it to `serve`.
"""

from .library import VALUE_LIMIT, Library, Refusal, Reply, Sizes, Unsupported
from .server import answer, quiet, serve

__all__ = ["VALUE_LIMIT", "Library", "Refusal", "Reply", "Sizes", "Unsupported", "answer", "quiet", "serve"]
