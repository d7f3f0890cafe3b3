"""The operation table, as far as TensorFlow has it. Its tensors do not change, so there is nothing in place and no `out=`.

An operation is a function of TensorFlow and nothing made of several. Numbers stay Python's, so that TensorFlow converts
them to the dtype of the tensor, as it does for its users.
"""

import operator
import re

import numpy as np
import tensorflow as tf

from broadcheck_adapter import (
    VALUE_LIMIT, Library, Rejection, Reply, Sizes, Unsupported, array_api, classifier, interpreter,
)  # fmt: skip
from broadcheck_adapter.numpy_like import axes, reduction
from broadcheck_adapter.operation import lacking_arguments, of_two

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

ONE_AXIS = "TensorFlow's argmax and argmin have one axis, and none is the first"
TWO_SHAPES = "TensorFlow's broadcast_static_shape has two shapes"

BINARY = {
    "add": tf.add,
    "sub": tf.subtract,
    "mul": tf.multiply,
    "div": tf.divide,
    "floor_divide": tf.math.floordiv,
    "remainder": tf.math.floormod,
    "fmod": tf.truncatemod,
    "pow": tf.pow,
    "maximum": tf.maximum,
    "minimum": tf.minimum,
    "atan2": tf.atan2,
    "nextafter": tf.math.nextafter,
    "eq": tf.equal,
    "ne": tf.not_equal,
    "lt": tf.less,
    "le": tf.less_equal,
    "gt": tf.greater,
    "ge": tf.greater_equal,
    "logical_and": tf.logical_and,
    "logical_or": tf.logical_or,
    "logical_xor": tf.math.logical_xor,
    "bitwise_and": tf.bitwise.bitwise_and,
    "bitwise_or": tf.bitwise.bitwise_or,
    "bitwise_xor": tf.bitwise.bitwise_xor,
    "bitwise_left_shift": tf.bitwise.left_shift,
    "bitwise_right_shift": tf.bitwise.right_shift,
    "xlogy": tf.math.xlogy,
    "special_xlog1py": tf.math.xlog1py,
    "special_zeta": tf.math.zeta,
    "igamma": tf.math.igamma,
    "igammac": tf.math.igammac,
    "complex": tf.complex,
}


def broadcast_shapes(shapes):
    if len(shapes) != 2:
        raise Unsupported(TWO_SHAPES)
    return Sizes(tf.broadcast_static_shape(*(tf.TensorShape(axes(shape)) for shape in shapes)))


def position(function):
    def call(tensor, dim, _keepdim):
        if dim is None:
            raise Unsupported(ONE_AXIS)
        return function(tensor, axis=dim)

    return call


OPERATIONS = {
    **{name: of_two(function) for name, function in BINARY.items()},
    "where": tf.where,
    "clamp": tf.clip_by_value,
    "expand": tf.broadcast_to,
    "expand_as": lambda tensor, other: tf.broadcast_to(tensor, tf.shape(other)),
    "broadcast_to": tf.broadcast_to,
    "broadcast_shapes": broadcast_shapes,
    "unsqueeze": tf.expand_dims,
    "squeeze": tf.squeeze,
    "permute": lambda tensor, dims: tf.transpose(tensor, dims),
    "reshape": tf.reshape,
    "index": operator.getitem,
    "index_select": lambda tensor, dim, index: tf.gather(tensor, index, axis=dim),
    "take_along_dim": lambda tensor, index, dim: tf.experimental.numpy.take_along_axis(tensor, index, dim),
    "masked_select": tf.boolean_mask,
    "clone": tf.identity,
    "item": lambda tensor: tensor.numpy().item(),
    "matmul": tf.matmul,
    "mv": tf.linalg.matvec,
    "tensordot": lambda left, right, *dims: tf.tensordot(left, right, axes=dims),
    "einsum": lambda equation, operands: tf.einsum(equation, *operands),
    "linalg_solve": lambda left, right, _side: tf.linalg.solve(left, right),
    "linalg_cross": lambda left, right, _dim: tf.linalg.cross(left, right),
    "sum": reduction(tf.reduce_sum),
    "mean": reduction(tf.reduce_mean),
    "prod": reduction(tf.reduce_prod),
    "amax": reduction(tf.reduce_max),
    "amin": reduction(tf.reduce_min),
    "all": reduction(tf.reduce_all),
    "any": reduction(tf.reduce_any),
    "logsumexp": reduction(tf.reduce_logsumexp),
    "argmax": position(tf.argmax),
    "argmin": position(tf.argmin),
    "var": lambda tensor, dim, _correction, keepdim, _unbiased: tf.math.reduce_variance(tensor, axes(dim), keepdim),
    "std": lambda tensor, dim, _correction, keepdim, _unbiased: tf.math.reduce_std(tensor, axes(dim), keepdim),
}

ARGUMENTS = {
    **{(op, "dtype"): "TensorFlow's reductions have no dtype" for op in ("sum", "mean", "prod")},
    **{(op, "keepdim"): f"TensorFlow's {op} always removes the dimension" for op in ("argmax", "argmin")},
    **{(op, "correction"): "TensorFlow's variance has no correction" for op in ("var", "std")},
    ("linalg_cross", "dim"): "TensorFlow's cross product is along the last dimension",
} | array_api.usual_arguments("TensorFlow's", OPERATIONS)

CLASSES = [
    (r"OOM when allocating|too many elements|overflow|would exceed|must be non-negative|>= 0", "impossible-size"),
    (r"^(expand|expand_as|broadcast_to): ", "expand"),
    (r"cannot compute .* as input|not in the list of allowed|Could not find (valid )?device|could not find", "dtype"),
    (r"[Dd]ata ?type|dtype|type (int|float|bool|complex|string)|convert .* Tensor|must be boolean|DT_", "dtype"),
    (r"not invertible", "singular"),
    (r"[Dd]ivision by zero|by zero|only integer div and mod should have errors", "zero-division"),
    (r"with a value out of range for a double-precision float", "argument"),
    (
        r"^einsum: .*(must have (the )?same|[Ii]nvalid (char|equation)|subscript|[Ee]llipsis|label.* not)",
        "einsum-equation",
    ),
    (r"^einsum: ", "einsum-operand"),
    (r"^(matmul|mv|tensordot|linalg_\w+): ", "product-shape"),
    (r"^reshape: ", "view"),
    (
        r"[Ii]ncompatible shapes|[Bb]roadcast|must match|[Ss]hapes? .* incompatible|same shape|imensions .* equal",
        "size-mismatch",
    ),
    (
        r"out of (range|bounds)|in the range|not in \[|[Tt]oo many indices|[Ee]xpected dimension|[Ii]nvalid reduction",
        "dimension",
    ),
    (r"permutation|rank|squeeze|duplicate|perm|axis", "dimension"),
    (r"strides\[|slice step|[Ii]nteger.*power", "argument"),
    (r"can only convert an array of size 1", "item-count"),
]


def make(dtype, shape, data, _requires_grad=False):
    return tf.constant(np.frombuffer(data, dtype=tf.as_dtype(dtype).as_numpy_dtype).reshape(shape))


def read(tensor):
    shape = tensor.shape.as_list()
    small = 0 < np.prod([float(size) for size in shape]) * tensor.dtype.size <= VALUE_LIMIT
    return Reply(tensor.dtype.name, shape, tensor.numpy().tobytes() if small else b"")


def message(error):
    """The message without the place in the graph."""
    return re.sub(r"^{{function_node [^}]*}} | \[Op:\w+\].*$", "", (str(error).splitlines() or [""])[0])


def functional(function):
    def call(_form, _out, *arguments):
        try:
            return function(*arguments)
        except (NameError, ImportError, Unsupported):
            raise
        except Exception as error:
            raise Rejection(message(error) or type(error).__name__) from error

    return call


def library():
    """TensorFlow, whichever this Python has."""
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    immutable = "TensorFlow's tensors do not change"
    return Library(
        name="tensorflow",
        version=tf.__version__,
        build=f"without oneDNN; {interpreter()}",
        dtypes=DTYPES,
        ops={name: functional(function) for name, function in OPERATIONS.items()},
        make=make,
        read=read,
        is_tensor=tf.is_tensor,
        classify=classifier(CLASSES),
        lacks=[*lacking_arguments(ARGUMENTS), *({"form": form, "why": immutable} for form in ("in_place", "out"))],
        unsupported=[
            {"what": TWO_SHAPES, "ops": ["broadcast_shapes"]},
            {"what": ONE_AXIS, "ops": ["argmax", "argmin"]},
        ],
    )
