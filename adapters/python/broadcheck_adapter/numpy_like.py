"""Functions with the parameters that NumPy's have, called with those of the operation table."""


def axes(dim):
    """One axis, several, or None for all."""
    return tuple(dim) if isinstance(dim, list) else dim


def by_tensors(indices):
    """What stands between the brackets."""
    return tuple(slice(None) if index is None else index for index in indices)


def reduction(function, keepdims="keepdims", dtypes=lambda name: name):
    """A reduction along axes, perhaps with a dtype. `keepdims` is what the function calls that."""

    def call(array, dim, keepdim, dtype=None, **out):
        typed = {} if dtype is None else {"dtype": dtypes(dtype)}
        return function(array, axis=axes(dim), **{keepdims: keepdim}, **typed, **out)

    return call


def spread(function, keepdims="keepdims", correction="correction"):
    """A variance. Without a correction it is the library's own default, which may be another than PyTorch's."""

    def call(array, dim, given, keepdim, _unbiased, **out):
        corrected = {} if given is None else {correction: given}
        return function(array, axis=axes(dim), **{keepdims: keepdim}, **corrected, **out)

    return call


def closeness(function):
    return lambda a, b, rtol, atol, nan: function(a, b, rtol=rtol, atol=atol, equal_nan=nan)


def truth(function):
    """A function that answers with an array of no dimensions where PyTorch answers with a bool."""
    return lambda *arguments: bool(function(*arguments))


def norm(function):
    """A norm of vectors. Its dtype keeps its default."""
    return lambda array, order, dim, keepdim, _dtype: function(array, axis=axes(dim), keepdims=keepdim, ord=order)
