"""The operation table, as far as ONNX has it, each operation a model of one node on ONNX Runtime's CPU provider.

An operation is a node type and nothing made of several. What a node takes as inputs are tensors, never numbers.
"""

import re
from functools import lru_cache

import numpy as np
import onnxruntime
from onnx import AttributeProto, TensorProto, helper

from broadcheck_adapter import Library, Rejection, Unsupported, classifier, interpreter, limit_memory
from broadcheck_adapter.arrays import make, reply
from broadcheck_adapter.operation import lacking_arguments, table

# The newest that this release of ONNX Runtime takes.
OPSET, IR = 26, 13

TYPES = {
    "bool": TensorProto.BOOL,
    "uint8": TensorProto.UINT8,
    "int8": TensorProto.INT8,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
}

# The memory of the machine must not decide which programs are rejected.
MEMORY = 16 << 30
# The arena of a session keeps the memory of its results. No session is kept after a larger result.
LARGE = 64 << 20

NUMBERS = "an input of an ONNX node is a tensor, and no number"
NORMS = "ONNX has norms of the orders 1 and 2"
ONE_AXIS = "ArgMax and ArgMin have one axis, and none is the first"
NORM_NODES = {1: "ReduceL1", 2: "ReduceL2"}


# A session takes a megabyte, and a campaign makes thousands.
@lru_cache(maxsize=256)
def session(node, inputs, result, attributes):
    """A model of that node. `inputs` has the dtype and the rank of each; None is an optional one that is left out."""
    names = ["" if given is None else f"x{at}" for at, given in enumerate(inputs)]
    shown = [
        helper.make_tensor_value_info(name, TYPES[given[0]], [None] * given[1])
        for name, given in zip(names, inputs)
        if given is not None
    ]
    results = [helper.make_tensor_value_info("y", TYPES[result], None)]
    made = helper.make_node(node, names, ["y"])
    for name, each in attributes:
        # The type of an empty list cannot be inferred.
        kind = AttributeProto.INTS if each == () else None
        made.attribute.append(helper.make_attribute(name, each, attr_type=kind))
    graph = helper.make_graph([made], "graph", shown, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(node, *inputs, result=None, **attributes):
    """The result of a node. Its dtype is that of the first input unless given."""
    if not all(given is None or isinstance(given, np.ndarray) for given in inputs):
        raise Unsupported(NUMBERS)
    while inputs and inputs[-1] is None:
        inputs = inputs[:-1]
    kinds = tuple(None if given is None else (given.dtype.name, given.ndim) for given in inputs)
    listed = tuple((name, tuple(each) if isinstance(each, list) else each) for name, each in attributes.items())
    try:
        made = session(node, kinds, result or (kinds[0][0] if kinds else "float32"), listed)
        (found,) = made.run(None, {f"x{at}": given for at, given in enumerate(inputs) if given is not None})
    except Exception as error:
        if not type(error).__module__.startswith("onnxruntime"):
            raise
        if "Failed to allocate" in str(error):
            # The arena grows by the size of the last request, also if that failed: for the next request, however small,
            # it reserves all the memory that it can get, and other programs find none.
            session.cache_clear()
        raise Rejection(message(str(error))) from None
    if found.nbytes > LARGE:
        session.cache_clear()
    return np.asarray(found)


# The beginning of a message: a code, the node, and the function in the sources that says it.
BEGINNING = re.compile(
    r"^("
    r"\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : "
    r"|Non-zero status code returned while running .*?Status Message: ?"
    r"|This is an invalid model\. "
    r"|Exception during (loading|initialization): "
    r"|Node \(\) Op \(\w+\) "
    r"|/\S+:\d+ .*?\)( const)?( \[with [^]]*\])? "
    r"|\w+\.(h|cc):\d+ \S+ "
    r")"
)


def message(whole):
    text = whole = " ".join(whole.split())
    while (rest := BEGINNING.sub("", text)) != text:
        text = rest
    return text or whole


def sizes(numbers):
    return np.array(numbers, dtype=np.int64)


def elementwise(node, result=None, **attributes):
    return lambda left, right, *_defaults: run(node, left, right, result=result, **attributes)


def where(condition, left, right):
    """`Where`, whose result has the dtype of what it chooses from."""
    return run("Where", condition, left, right, result=left.dtype.name if isinstance(left, np.ndarray) else "float32")


def gemm(summand, left, right, beta, alpha):
    return run("Gemm", left, right, summand, alpha=float(alpha), beta=float(beta))


def einsum(equation, operands):
    return run("Einsum", *operands, equation=equation)


def transpose(array, order):
    return run("Transpose", array, perm=order)


def axes(dim):
    return None if dim is None else sizes(dim if isinstance(dim, list) else [dim])


def reduction(node):
    return lambda array, dim, keepdim, _dtype=None: run(node, array, axes(dim), keepdims=int(keepdim))


def position(node):
    def call(array, dim, keepdim):
        if dim is None:
            raise Unsupported(ONE_AXIS)
        return run(node, array, axis=dim, keepdims=int(keepdim), result="int64")

    return call


def norm(array, order, dim, keepdim, _dtype):
    if order not in NORM_NODES:
        raise Unsupported(NORMS)
    return run(NORM_NODES[order], array, axes(dim), keepdims=int(keepdim))


# Functions of two operands.
ELEMENTWISE = {
    "add": elementwise("Add"),
    "sub": elementwise("Sub"),
    "mul": elementwise("Mul"),
    "div": elementwise("Div"),
    "remainder": elementwise("Mod", fmod=0),
    "fmod": elementwise("Mod", fmod=1),
    "pow": elementwise("Pow"),
    "maximum": elementwise("Max"),
    "minimum": elementwise("Min"),
    "eq": elementwise("Equal", "bool"),
    "lt": elementwise("Less", "bool"),
    "le": elementwise("LessOrEqual", "bool"),
    "gt": elementwise("Greater", "bool"),
    "ge": elementwise("GreaterOrEqual", "bool"),
    "logical_and": elementwise("And", "bool"),
    "logical_or": elementwise("Or", "bool"),
    "logical_xor": elementwise("Xor", "bool"),
    "bitwise_and": elementwise("BitwiseAnd"),
    "bitwise_or": elementwise("BitwiseOr"),
    "bitwise_xor": elementwise("BitwiseXor"),
    "bitwise_left_shift": elementwise("BitShift", direction="LEFT"),
    "bitwise_right_shift": elementwise("BitShift", direction="RIGHT"),
    "prelu": elementwise("PRelu"),
}

OPERATIONS = {
    **ELEMENTWISE,
    "where": where,
    "clamp": lambda array, low, high: run("Clip", array, low, high),
    "expand": lambda array, size: run("Expand", array, sizes(size)),
    "broadcast_to": lambda array, size: run("Expand", array, sizes(size)),
    "reshape": lambda array, size: run("Reshape", array, sizes(size), allowzero=1),
    "unsqueeze": lambda array, dim: run("Unsqueeze", array, sizes([dim])),
    "squeeze": lambda array, dim: run("Squeeze", array, axes(dim)),
    "permute": transpose,
    "clone": lambda array: run("Identity", array),
    "index_select": lambda array, dim, index: run("Gather", array, index, axis=dim),
    "gather": lambda array, dim, index: run("GatherElements", array, index, axis=dim),
    "scatter": lambda array, dim, index, source: run("ScatterElements", array, index, source, axis=dim),
    "matmul": elementwise("MatMul"),
    "addmm": gemm,
    "einsum": einsum,
    "sum": reduction("ReduceSum"),
    "mean": reduction("ReduceMean"),
    "prod": reduction("ReduceProd"),
    "amax": reduction("ReduceMax"),
    "amin": reduction("ReduceMin"),
    "logsumexp": reduction("ReduceLogSumExp"),
    "argmax": position("ArgMax"),
    "argmin": position("ArgMin"),
    "linalg_vector_norm": norm,
}

ARGUMENTS = {
    ("add", "alpha"): "ONNX's Add has no factor",
    ("sub", "alpha"): "ONNX's Sub has no factor",
    ("div", "rounding_mode"): "ONNX's Div has no rounding mode",
    ("sum", "dtype"): "ONNX's ReduceSum has no dtype",
    ("mean", "dtype"): "ONNX's ReduceMean has no dtype",
    ("prod", "dtype"): "ONNX's ReduceProd has no dtype",
    ("linalg_vector_norm", "dtype"): "ONNX's ReduceL1 and ReduceL2 have no dtype",
}

DTYPES = {
    "bfloat16": "ONNX Runtime's CPU provider computes nothing in bfloat16",
    "complex64": "ONNX Runtime has no complex tensors",
    "complex128": "ONNX Runtime has no complex tensors",
}

CLASSES = [
    (r"Type Error|Could not find an implementation|Failed to find kernel|fmod was false", "dtype"),
    (r"Failed to allocate|storage size|shape\.Size\(\)|Integer overflow", "impossible-size"),
    (r"too many elements|too big|number of dimensions must be", "impossible-size"),
    (r"Integer (division|modulo) by zero", "zero-division"),
    (r"invalid expand shape", "expand"),
    (r"^reshape: ", "view"),
    (r"not in valid range|'?axis'? must be|Dimension of input", "dimension"),
    (r"Invalid attribute perm|Attribute perm of Transpose|repeated value|perm size", "dimension"),
    (r"'indices' shape should have values|is greater than input dim|Indices vs updates dimensions", "size-mismatch"),
    (r"element out of data bounds|Out of range value in index|must have rank >= |GatherElements op", "dimension"),
    (r"Indices (and updates )?must have the same rank", "dimension"),
    (r"^(matmul|addmm): .*([Dd]imension mismatch|wrong rank|expected to have rank)", "product-shape"),
    (r"Invalid bias shape", "expand"),
    (r"^einsum: .*(could not be broadcast|Rank of input|match the operands|too many subscript)", "einsum-operand"),
    (r"^einsum: .*(incompatible|same|has input size)", "einsum-operand"),
    (r"^einsum: ", "einsum-equation"),
    (r"cannot broadcast|Attempting to broadcast|Can broadcast|broadcasted dimensions", "size-mismatch"),
    (r"should be a scalar", "argument"),
]


def library():
    """ONNX Runtime, whichever this Python has."""
    limit_memory(MEMORY)
    missing = [{"dtype": dtype, "why": why} for dtype, why in DTYPES.items()]
    missing += [{"form": form, "why": "a node makes a tensor, and changes none"} for form in ("in_place", "out")]
    return Library(
        name="onnxruntime",
        version=onnxruntime.__version__,
        build=f"opset {OPSET}; CPUExecutionProvider; {interpreter()}",
        dtypes=list(TYPES),
        ops=table(OPERATIONS),
        make=make,
        read=reply,
        is_tensor=lambda value: isinstance(value, np.ndarray),
        classify=classifier(CLASSES),
        lacks=[*lacking_arguments(ARGUMENTS), *missing],
        unsupported=[
            {"what": NUMBERS, "ops": [*ELEMENTWISE, "where", "clamp", "scatter"]},
            {"what": NORMS, "ops": ["linalg_vector_norm"]},
            {"what": ONE_AXIS, "ops": ["argmax", "argmin"]},
        ],
    )
