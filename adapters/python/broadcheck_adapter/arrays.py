"""NumPy's arrays as the protocol has them, for libraries that take and give them."""

import numpy as np

from .library import VALUE_LIMIT, Reply


def make(dtype, shape, data, _requires_grad=False):
    """An array of those bytes, in memory of its own."""
    return np.frombuffer(data, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)


def content(array):
    """The bytes of the elements, unless there are too many to tell."""
    small = array.size * array.itemsize <= VALUE_LIMIT
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() if small else b""


def reply(array):
    """An array without its memory."""
    return Reply(array.dtype.name, list(array.shape), content(array))
