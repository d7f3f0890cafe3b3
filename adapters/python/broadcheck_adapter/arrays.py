"""NumPy's arrays as the protocol has them, for libraries that take and return them. It needs NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .library import VALUE_LIMIT, Reply

Array = np.ndarray[Any, np.dtype[Any]]


def make(dtype: str, shape: list[int], data: bytes, _requires_grad: bool = False) -> Array:
    """Returns an array of those bytes, in memory of its own."""
    return np.frombuffer(data, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)


def content(array: Array) -> bytes:
    """Returns the bytes of the elements in row-major order, or none where they exceed `VALUE_LIMIT`."""
    small = array.size * array.itemsize <= VALUE_LIMIT
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() if small else b""


def reply(array: Array) -> Reply:
    """Returns an array as the protocol has it, without strides and storage."""
    return Reply(array.dtype.name, list(array.shape), content(array))
