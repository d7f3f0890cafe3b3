"""The operation table, as far as PaddlePaddle has it, and its tensors as the protocol sees them.

An operation is a function of PaddlePaddle, or its operator where a number is involved, and nothing made of several. In
place is the method that ends in an underscore.
"""

import operator
import re
import warnings

import numpy as np
import paddle
import paddle.nn.functional as F

from broadcheck_adapter import (
    VALUE_LIMIT, Library, Rejection, Reply, Sizes, Unsupported, arrays, classifier, interpreter, limit_memory,
)  # fmt: skip
from broadcheck_adapter.numpy_like import reduction, spread, truth
from broadcheck_adapter.operation import (
    FUNCTIONAL, IN_PLACE, OUT, Operation, changing, lacking_arguments, lacking_forms, table, with_out,
)  # fmt: skip

# The memory of the machine must not decide which programs are rejected.
MEMORY = 16 << 30

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

NUMBERS = "PaddlePaddle's function takes two tensors, and only its operator a number"
NO_AXIS = "PaddlePaddle's take_along_axis has an axis"


def is_tensor(value):
    return isinstance(value, paddle.Tensor)


def method(name):
    """A method that changes its tensor."""
    return changing(lambda target, *arguments, **named: getattr(target, name)(*arguments, **named))


def binary(function, symbol=None, in_place=None, out=True, named=()):
    """A function of two operands. If one of them is a number, it is the operator, if there is one.

    What else it is given has the names in `named`, and is left out where it is the default.
    """

    def options(given):
        return {name: value for name, value in zip(named, given) if value not in (None, 1)}

    def of_tensors(call):
        def checked(left, right, *given, **target):
            if not (is_tensor(left) and is_tensor(right)):
                raise Unsupported(NUMBERS)
            return call(left, right, **options(given), **target)

        return checked

    plain = of_tensors(function)

    def with_numbers(left, right, *given):
        # Two numbers have Python's own operator.
        one = is_tensor(left) != is_tensor(right)
        return symbol(left, right) if one and not options(given) else plain(left, right, *given)

    writing = in_place and of_tensors(method(in_place))
    return Operation(with_numbers if symbol else plain, writing, plain if out else None)


def with_in_place(function, name):
    return Operation(function, method(name))


def in_place(name):
    return Operation(in_place=method(name))


def fold(function):
    """A reduction with `out=`."""
    return with_out(reduction(function, "keepdim"))


def take_along(tensor, index, dim, out=None):
    if dim is None:
        raise Unsupported(NO_AXIS)
    return paddle.take_along_axis(tensor, index, dim, out=out)


def huber(is_huber):
    """`smooth_l1_loss` is one or the other loss, and calls the bound of both delta."""
    return lambda left, right, *given: F.smooth_l1_loss(left, right, *given, is_huber=is_huber)


def cross_entropy(logit, label, weight, pos_weight, reduction):
    return F.binary_cross_entropy_with_logits(logit, label, weight, reduction, pos_weight)


def sizes(shape):
    return shape if isinstance(shape, list) else [shape]


BINARY = {
    "add": binary(paddle.add, operator.add, "add_", named=["alpha"]),
    "sub": binary(paddle.subtract, operator.sub, "subtract_", named=["alpha"]),
    "mul": binary(paddle.multiply, operator.mul, "multiply_"),
    "div": binary(paddle.divide, operator.truediv, "divide_", named=["rounding_mode"]),
    "floor_divide": binary(paddle.floor_divide, operator.floordiv, "floor_divide_"),
    "remainder": binary(paddle.remainder, operator.mod, "remainder_"),
    "pow": binary(paddle.pow, operator.pow, "pow_"),
    "eq": binary(paddle.equal, operator.eq, "equal_"),
    "ne": binary(paddle.not_equal, operator.ne, "not_equal_"),
    "lt": binary(paddle.less_than, operator.lt, "less_than_"),
    "le": binary(paddle.less_equal, operator.le, "less_equal_"),
    "gt": binary(paddle.greater_than, operator.gt, "greater_than_"),
    "ge": binary(paddle.greater_equal, operator.ge, "greater_equal_"),
    "bitwise_and": binary(paddle.bitwise_and, operator.and_, "bitwise_and_"),
    "bitwise_or": binary(paddle.bitwise_or, operator.or_, "bitwise_or_"),
    "bitwise_xor": binary(paddle.bitwise_xor, operator.xor, "bitwise_xor_"),
    "bitwise_left_shift": binary(paddle.bitwise_left_shift, operator.lshift, "bitwise_left_shift_"),
    "bitwise_right_shift": binary(paddle.bitwise_right_shift, operator.rshift, "bitwise_right_shift_"),
    "logical_and": binary(paddle.logical_and, in_place="logical_and_"),
    "logical_or": binary(paddle.logical_or, in_place="logical_or_"),
    "logical_xor": binary(paddle.logical_xor, in_place="logical_xor_"),
    "maximum": binary(paddle.maximum),
    "minimum": binary(paddle.minimum),
    "fmax": binary(paddle.fmax, out=False),
    "fmin": binary(paddle.fmin, out=False),
    "atan2": binary(paddle.atan2, out=False),
    "hypot": binary(paddle.hypot, in_place="hypot_", out=False),
    "copysign": binary(paddle.copysign, paddle.copysign, in_place="copysign_", out=False),
    "nextafter": binary(paddle.nextafter, out=False),
    "heaviside": binary(paddle.heaviside, out=False),
    "ldexp": binary(paddle.ldexp, in_place="ldexp_", out=False),
    "logaddexp": binary(paddle.logaddexp, out=False),
    "gcd": binary(paddle.gcd, in_place="gcd_", out=False),
    "lcm": binary(paddle.lcm, in_place="lcm_", out=False),
    "igamma": binary(paddle.gammainc, out=False),
    "igammac": binary(paddle.gammaincc, out=False),
    "complex": binary(paddle.complex),
    "polar": binary(paddle.polar),
}

OPERATIONS = {
    **BINARY,
    "lerp": with_in_place(paddle.lerp, "lerp_"),
    "clamp": Operation(paddle.clip, method("clip_"), paddle.clip),
    "where": with_out(paddle.where),
    "isclose": paddle.isclose,
    "allclose": truth(paddle.allclose),
    "equal": truth(paddle.equal_all),
    "copy": in_place("copy_"),
    "fill": in_place("fill_"),
    "masked_fill": with_in_place(paddle.masked_fill, "masked_fill_"),
    "expand": paddle.expand,
    "expand_as": paddle.expand_as,
    "broadcast_to": paddle.broadcast_to,
    "broadcast_tensors": paddle.broadcast_tensors,
    "broadcast_shapes": lambda shapes: Sizes(paddle.broadcast_shapes(*map(sizes, shapes))),
    "unsqueeze": with_in_place(paddle.unsqueeze, "unsqueeze_"),
    "squeeze": with_in_place(paddle.squeeze, "squeeze_"),
    "t": with_in_place(paddle.t, "t_"),
    "permute": paddle.permute,
    "movedim": paddle.moveaxis,
    "moveaxis": paddle.moveaxis,
    "reshape": paddle.reshape,
    "view": paddle.view,
    "view_as": paddle.view_as,
    "flatten": paddle.flatten,
    "unflatten": paddle.unflatten,
    "narrow": paddle.narrow,
    "index": operator.getitem,
    "masked_select": paddle.masked_select,
    "index_select": with_out(lambda tensor, dim, index, out=None: paddle.index_select(tensor, index, dim, out=out)),
    "take_along_dim": with_out(take_along),
    "prelu": F.prelu,
    "transpose": paddle.transpose,
    "clone": paddle.clone,
    "contiguous": paddle.Tensor.contiguous,
    "detach": paddle.Tensor.detach,
    "item": paddle.Tensor.item,
    "einsum": lambda equation, operands: paddle.einsum(equation, *operands),
    "matmul": with_out(paddle.matmul),
    "dot": with_out(paddle.dot),
    "mv": paddle.mv,
    "mm": paddle.mm,
    "bmm": with_out(paddle.bmm),
    "addmm": with_in_place(paddle.addmm, "addmm_"),
    "baddbmm": with_in_place(paddle.baddbmm, "baddbmm_"),
    "outer": with_out(paddle.outer),
    "ger": with_out(paddle.ger),
    "inner": paddle.inner,
    "tensordot": lambda left, right, *dims: paddle.tensordot(left, right, list(dims)),
    "kron": paddle.kron,
    "linalg_vecdot": lambda left, right, dim: paddle.linalg.vecdot(left, right, dim),
    "linalg_cross": lambda left, right, dim: paddle.cross(left, right, dim),
    "linalg_solve": with_out(lambda left, right, side, out=None: paddle.linalg.solve(left, right, side, out=out)),
    "linalg_vector_norm": with_out(
        lambda tensor, order, dim, keepdim, dtype, out=None: paddle.linalg.vector_norm(
            tensor, order, dim, keepdim, dtype=dtype, out=out
        )
    ),
    "sum": fold(paddle.sum),
    "mean": fold(paddle.mean),
    "prod": fold(paddle.prod),
    "nansum": reduction(paddle.nansum, "keepdim"),
    "amax": fold(paddle.amax),
    "amin": fold(paddle.amin),
    "all": fold(paddle.all),
    "any": fold(paddle.any),
    "logsumexp": fold(paddle.logsumexp),
    "argmax": reduction(paddle.argmax, "keepdim"),
    "argmin": reduction(paddle.argmin, "keepdim"),
    "var": with_out(spread(paddle.var, "keepdim")),
    "std": lambda tensor, dim, _correction, keepdim, _unbiased: paddle.std(tensor, dim, keepdim=keepdim),
    "dist": paddle.dist,
    "cdist": lambda left, right, order, _mode: paddle.cdist(left, right, order),
    "mse_loss": F.mse_loss,
    "l1_loss": F.l1_loss,
    "smooth_l1_loss": huber(False),
    "huber_loss": huber(True),
    "soft_margin_loss": F.soft_margin_loss,
    "hinge_embedding_loss": F.hinge_embedding_loss,
    "margin_ranking_loss": F.margin_ranking_loss,
    "kl_div": F.kl_div,
    "poisson_nll_loss": F.poisson_nll_loss,
    "binary_cross_entropy_with_logits": cross_entropy,
    "cosine_embedding_loss": F.cosine_embedding_loss,
    "triplet_margin_loss": F.triplet_margin_loss,
    "cosine_similarity": F.cosine_similarity,
}

ARGUMENTS = {
    ("std", "correction"): "PaddlePaddle's std has no correction",
    ("std", "unbiased"): "PaddlePaddle's std has no correction",
    ("var", "unbiased"): "PaddlePaddle's var has a correction",
    ("cdist", "compute_mode"): "PaddlePaddle's modes of cdist are words",
}

# Calls that read or write beyond the memory of their operands, so that their results are undefined.
UNSAFE = {
    "as_strided": "PaddlePaddle's as_strided counts its offset in bytes, and reads beyond the memory",
    "index.Tensor": "PaddlePaddle's indices between brackets are not checked, and read beyond the memory",
    "pairwise_distance": "PaddlePaddle's pairwise_distance of tensors without dimensions reads beyond the memory",
    "scatter": "PaddlePaddle's put_along_axis writes beyond the memory where there are more indices than elements",
    "masked_scatter": "PaddlePaddle's masked_scatter reads no memory where nothing is selected",
}

INVALID = "PaddlePaddle's masked_select leaves no tensor to look at where out= is an operand"

# Calls over which PaddlePaddle ends its process, or hangs.
APART = frozenset({"matmul", "expand", "pow", "div", "floor_divide"})

REASONS = {
    IN_PLACE: "PaddlePaddle's tensors have no such method",
    OUT: "PaddlePaddle's function has no out=",
    FUNCTIONAL: "PaddlePaddle only does it in place",
}

PRODUCTS = r"(matmul|dot|mv|mm|bmm|addmm|baddbmm|inner|outer|ger|tensordot|linalg_solve|linalg_cross)"
MISFITS = r"(in tensordot|must be equal|should be|rank|equal to|Incompat|square|shape|same batch size|3-dimensional)"

CLASSES = [
    (r"is different from that of inplace tensor", "output-shape"),
    (r"has error dim|input channel", "size-mismatch"),
    (r"dim count|non-negative", "dimension"),
    (r"must not be greater than|access to dimension 0 to 9|meta data must be valid|too big", "impossible-size"),
    (r"^(expand|expand_as|broadcast_to): ", "expand"),
    (r"duplicate dimensions|'axis'(\(-?\d+\))? +must be|start_axis|stop_axis", "dimension"),
    (r"only support N-D|should be unique", "dimension"),
    (r"Integer division by zero|Divide by zero|divide by zero", "zero-division"),
    (r"not invertible|singular", "singular"),
    (r"rounding_mode|max should be greater|stride index|fill value", "argument"),
    (r"must be double|valid p type|not 'complex'|incompatible function arguments", "argument"),
    (r"^cdist: The p must be", "argument"),
    (r"^cdist: .*same last dimension", "product-shape"),
    (r"^(permute|transpose|movedim|moveaxis|squeeze|unsqueeze|flatten|unflatten): .*exceeds int32 range", "dimension"),
    (r"^cdist: .*at least 2-dimensional|multi-target|inputs with different sizes", "dimension"),
    (r"^(addmm|baddbmm): .*(is not broadcastable|input's dimension|dimension of input should be)", "expand"),
    (r"^tensordot: .*equal to or greater than the axis's size", "dimension"),
    (r"^linalg_vecdot: .*X = \[\d+\] and the shape of Y = \[\d+\]", "product-shape"),
    (r"unsupported operand type", "dtype"),
    (r"Type promotion only|(kernel `\w+` is not|no kernels which are) registered|[Dd]ata ?type", "dtype"),
    (r"does not match the type of data", "dtype"),
    (r"holds the wrong type|isn't consistent|must be scalar type|boolean Tensor|different data type", "dtype"),
    (r"must be (bool|int|Tensor|complex)", "dtype"),
    (rf"^{PRODUCTS}: .*{MISFITS}", "product-shape"),
    (r"^einsum: .*(all_labels|missing ellipsis)", "einsum-equation"),
    (r"^einsum: .*(Same label|number of operands|dimension|labels)", "einsum-operand"),
    (r"^einsum: ", "einsum-equation"),
    (r"^(view|reshape|unflatten|view_as): ", "view"),
    (r"duplicate dimensions|should be in the range|in the range of|out of (range|bounds)", "dimension"),
    (r"Too many indices|axis can only|less than Rank", "dimension"),
    (r"insert dimension|input tensor's dimension|same number of dimensions", "dimension"),
    (r"value should be in range|expected >= |list index out of range", "dimension"),
    (r"[Bb]roadcast|bcast semantics|did not match indexed|not equal to", "size-mismatch"),
    (r"same shape|must have the same|rank should be same", "size-mismatch"),
    (r"does not match the corresponding value|must match (the size|shape) of tensor|same rank", "size-mismatch"),
    (r"shape must equal|Size does not match|shapes? should be|can not be broadcasted", "size-mismatch"),
    (r"only supports Tensor with 1 element|only one element", "item-count"),
]


def message(text):
    """The first line that says something, without the place in the sources and the numbers of tensors."""
    text = text.split("Error Message Summary:\n")[-1].strip("-\n ")
    text = re.sub(r"(generated_tensor|eager_tmp)_\d+", r"\1", text)
    return re.sub(r" \(at /\S+\)$", "", text.split("\n")[0]).strip()


def rejecting(function):
    def call(*arguments):
        try:
            return function(*arguments)
        except (NameError, ImportError, Unsupported):
            raise
        except Exception as error:
            raise Rejection(message(str(error)) or type(error).__name__) from error

    return call


def make(dtype, shape, data, _requires_grad):
    # A bfloat16 is a uint16 in NumPy.
    kept = "uint16" if dtype == "bfloat16" else dtype
    return paddle.to_tensor(arrays.make(kept, shape, data))


def read(tensor):
    dtype = str(tensor.dtype).rsplit(".")[-1]
    # NumPy wants to count the bytes of what is empty, too.
    reported = 0 < tensor.size * tensor.element_size() <= VALUE_LIMIT
    return Reply(dtype, list(tensor.shape), arrays.content(tensor.detach().numpy()) if reported else b"")


def library():
    """PaddlePaddle, whichever this Python has."""
    limit_memory(MEMORY)
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    paddle.set_device("cpu")
    operations = table(OPERATIONS)
    return Library(
        name="paddle",
        version=paddle.__version__,
        build=f"{interpreter()}",
        dtypes=DTYPES,
        ops={name: rejecting(operation) for name, operation in operations.items()},
        make=make,
        read=read,
        is_tensor=is_tensor,
        classify=classifier(CLASSES),
        capabilities=["in_place", "out"],
        lacks=[
            *lacking_forms(operations, REASONS),
            *({"op": op, "why": why} for op, why in UNSAFE.items()),
            {"op": "masked_select", "form": OUT, "why": INVALID},
            *lacking_arguments(ARGUMENTS),
        ],
        unsupported=[{"what": NUMBERS, "ops": list(BINARY)}, {"what": NO_AXIS, "ops": ["take_along_dim"]}],
        apart=APART,
    )
