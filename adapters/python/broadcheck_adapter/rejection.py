"""The classes of rejections, and patterns that find the class of an exception by its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal, get_args

RejectionClass = Literal[
    "size-mismatch",
    "output-shape",
    "expand",
    "not-expandable",
    "impossible-size",
    "dimension",
    "view",
    "dtype",
    "overlap",
    "item-count",
    "product-shape",
    "einsum-equation",
    "einsum-operand",
    "argument",
    "zero-division",
    "singular",
    "autograd",
]
"""broadcheck's portable names of rejections. `adapters/README.md` says what each means."""

CLASSES: tuple[str, ...] = get_args(RejectionClass)
"""The same names at run time."""

Classify = Callable[[Exception, str], "str | None"]
"""Returns the class of an exception that an operation raised, or None where it is not known."""


def named(exception: Exception, op: str) -> str:
    """Returns the text that patterns are searched in: the operation, a colon, and the message."""
    return f"{op}: {exception}"


def classifier(
    patterns: Iterable[tuple[str, RejectionClass]], text: Callable[[Exception, str], str] = named
) -> Classify:
    """Returns a function that looks up the class of an exception by its text.

    Each pattern is a regular expression with its class. The first one that is found in the text decides. The text is
    the operation, a colon and the message, so that `r"^view: .*size"` is about `view` alone. A class that broadcheck
    does not have is a `ValueError`.
    """
    compiled = [(re.compile(pattern), checked(kind)) for pattern, kind in patterns]

    def classify(exception: Exception, op: str) -> str | None:
        said = text(exception, op)
        return next((kind for pattern, kind in compiled if pattern.search(said)), None)

    return classify


def checked(kind: str) -> str:
    """Returns a class as it is, or raises a `ValueError` that lists those that there are."""
    if kind not in CLASSES:
        raise ValueError(f"{kind!r} is no class of rejections: use one of {', '.join(CLASSES)}")
    return kind
