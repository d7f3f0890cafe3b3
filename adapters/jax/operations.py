"""The operation table, as far as JAX has it. JAX's arrays do not change, so there is nothing in place and no `out=`.

An operation is a function of `jax.numpy` or `jax.scipy.special` and nothing made of several. Numbers stay Python's, so
that JAX promotes them weakly, as it does for its users.
"""

import warnings

import jax
import jax.numpy as jnp
import jax.scipy.special as special
import numpy as np

from broadcheck_adapter import VALUE_LIMIT, Library, Reply, array_api, classifier, interpreter
from broadcheck_adapter.numpy_like import by_tensors, reduction
from broadcheck_adapter.operation import lacking_arguments, of_two

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "float16", "bfloat16", "float32", "complex64"]
WIDE = ["int64", "float64", "complex128"]


def index_put(array, indices, values, accumulate):
    place = array.at[by_tensors(indices)]
    return place.add(values) if accumulate else place.set(values)


BINARY = array_api.elementwise(jnp) | {
    "xlogy": special.xlogy,
    "special_xlog1py": special.xlog1py,
    "special_zeta": special.zeta,
    "igamma": special.gammainc,
    "igammac": special.gammaincc,
}

OPERATIONS = {
    **{name: of_two(function) for name, function in BINARY.items()},
    **array_api.reductions(jnp),
    **array_api.comparisons(jnp),
    **array_api.shapes(jnp),
    **array_api.indexing(jnp),
    **array_api.products(jnp),
    "clamp": jnp.clip,
    "clamp_min": lambda array, low: jnp.clip(array, min=low),
    "clamp_max": lambda array, high: jnp.clip(array, max=high),
    "where": jnp.where,
    "flatten": lambda array, *_defaults: jnp.ravel(array),
    # Arrays do not change, so a view cannot be distinguished from a copy.
    "view": jnp.reshape,
    "index.Tensor": lambda array, indices: array[by_tensors(indices)],
    "index_put": index_put,
    "clone": jnp.copy,
    "item": lambda array: array.item(),
    "logsumexp": reduction(special.logsumexp),
}

ARGUMENTS = {
    ("flatten", "start_dim"): "JAX's ravel flattens all dimensions",
    ("flatten", "end_dim"): "JAX's ravel flattens all dimensions",
} | array_api.usual_arguments("JAX's", OPERATIONS)

# Texts of exceptions, with their classes of rejections. The first that fits counts; a name before the colon limits
# it to an operation.
CLASSES = [
    (r"^broadcast_shapes: .*concrete values of integer type", "argument"),
    (r"^(broadcast_to|expand|expand_as): (Incompatible types|Cannot broadcast to shape with fewer)", "expand"),
    (r"every element be nonnegative|Only non-negative indices", "impossible-size"),
    (r"RESOURCE_EXHAUSTED|array is too big|number of dimensions must be within", "impossible-size"),
    (r"contracting dimensions to be distinct", "dimension"),
    (r"contracting dimensions to have the same shape|inconsistent size for core dimension", "product-shape"),
    (r"axes must match|Invalid shapes for solve|at least two dimensional|must have ndim at least", "product-shape"),
    (r"Both input arrays must be", "product-shape"),
    (r"Output character|Invalid Ellipses|^einsum: Character", "einsum-equation"),
    (r"^einsum: ", "einsum-operand"),
    (r"ncompatible (shapes|types)|boolean index did not match", "size-mismatch"),
    (r"does not accept dtype|must be integers|complex[- ]value|not supported for input types", "dtype"),
    (r"must have integer or boolean type|must be of integer type|Unsupported dtype", "dtype"),
    (r"negative powers|axes lists to have equal length|slice step", "argument"),
    (r"cannot reshape|one unknown axis size|new_sizes must all be positive|modulo by zero", "view"),
    (r"out of bounds|out of range|[Tt]oo many indices|duplicate value|not unique|isn't a permutation", "dimension"),
    (r"empty axis|empty sequence|zero-size array|same number of dimensions|if axis=None", "dimension"),
    (r"select an axis to squeeze", "dimension"),
    (r"convert an array of size 1", "item-count"),
]


def make(dtype, shape, data, _requires_grad):
    return jnp.asarray(np.frombuffer(data, dtype=jnp.dtype(dtype)).reshape(shape))


def read(array):
    # NumPy has no more than 64 dimensions, and wants to count the bytes of what is empty, too.
    small = array.size * array.dtype.itemsize <= VALUE_LIMIT
    data = np.asarray(array if array.ndim <= 64 else array.ravel()).tobytes() if small and array.size else b""
    return Reply(array.dtype.name, list(array.shape), data)


def computed(function):
    """A function whose result is there when it returns: JAX does not wait, and an error would be another step's."""

    def call(_form, _out, *arguments):
        return jax.block_until_ready(function(*arguments))

    return call


def library(wide):
    """JAX, whichever this Python has, with or without 64 bits."""
    warnings.simplefilter("ignore")
    immutable = "JAX's arrays do not change"
    missing = [{"form": "in_place", "why": immutable}, {"form": "out", "why": immutable}]
    if not wide:
        missing += [{"dtype": dtype, "why": "JAX has 64 bits only where jax_enable_x64 is set"} for dtype in WIDE]
    return Library(
        name="jax-x64" if wide else "jax",
        version=jax.__version__,
        build=f"{jax.default_backend()}, jaxlib {jax.lib.__version__}; {interpreter()}",
        dtypes=DTYPES + (WIDE if wide else []),
        ops={name: computed(function) for name, function in OPERATIONS.items()},
        make=make,
        read=read,
        is_tensor=lambda value: isinstance(value, jax.Array),
        classify=classifier(CLASSES),
        lacks=[*lacking_arguments(ARGUMENTS), *missing],
        # LAPACK's functions raise a NotImplementedError for the dtypes that they do not have.
        mistakes=(NameError, AttributeError, KeyError, AssertionError, ImportError),
    )
