# SPDX-License-Identifier: MIT OR Apache-2.0
"""The package that adapters in Python share: the protocol of `adapters/README.md`, and nothing of any library.

An adapter calls `quiet()` before it imports its library, describes the library in a `Library`, and hands it to `serve`:

    answers = quiet()
    import mylib
    serve(Library(name="mylib", ...), answers)

`operation` builds operations that have several forms, `numpy_like` calls functions that take NumPy's parameters,
`array_api` finds the functions of a library that has NumPy's names or those of the array API standard, and `arrays`,
which needs NumPy and is imported by its own name, makes and reads NumPy's arrays.
"""

from . import recording

# What is imported after this is recorded.
if recording.is_wanted():
    recording.install()

from .library import (
    DTYPES, VALUE_LIMIT, Capability, Dtype, Inexpressible, Lack, Library, Rejection, Reply, Sizes, Unsupported,
    UnsupportedCall,
)  # fmt: skip
from .machine import interpreter, limit_memory
from .operation import (
    FUNCTIONAL, IN_PLACE, OUT, Form, Operation, assigning, binary, changing, in_place, lacking_arguments, lacking_forms,
    of_two, table, with_out,
)  # fmt: skip
from .rejection import CLASSES, RejectionClass, classifier
from .server import answer, quiet, serve

__version__ = "0.1.0"

__all__ = [
    "CLASSES", "DTYPES", "FUNCTIONAL", "IN_PLACE", "OUT", "VALUE_LIMIT", "Capability", "Dtype", "Form",
    "Inexpressible", "Lack", "Library", "Operation", "Rejection", "RejectionClass", "Reply", "Sizes", "Unsupported",
    "UnsupportedCall", "__version__", "answer", "assigning", "binary", "changing", "classifier", "in_place", "interpreter",
    "lacking_arguments", "lacking_forms", "limit_memory", "of_two", "quiet", "serve", "table", "with_out",
]  # fmt: skip
