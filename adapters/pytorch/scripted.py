"""The calls of `eager.py` as nodes of TorchScript graphs, with the shapes that `torch.jit` computes for them.

TorchScript has a shape function for some operators, which maps the sizes of the operands to those of the result. A
result is a tensor on the meta device of that shape; its dtype, and what is rejected for a dtype, is that of the call on
the meta device.
"""

import math
import re

import torch
from torch.utils import _pytree as pytree

import eager
from broadcheck_adapter import Inexpressible, Unsupported
from broadcheck_adapter.operation import FUNCTIONAL, IN_PLACE, OUT
from table import TABLE
from tensors import is_tensor

LACKING = "torch.jit has no shape function for this overload"

# What a meta kernel rejects where shapes fit: a dtype, a number, or more elements than can be counted.
OF_ELEMENTS = re.compile(r"type|bool|complex|integ|overflow|Promotion of|not implemented|both min and max", re.I)

# The message of a shape function, below the trace of the interpreter.
RAISED = re.compile(r".*^RuntimeError: (?:AssertionError: )?", re.S | re.M)


def has_shape_function(operator):
    """Whether an overload of this operator has a shape function."""
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{operator}"):
        graph = torch._C.Graph()
        inputs = [graph.addInput() for _ in schema.arguments]
        for value, argument in zip(inputs, schema.arguments, strict=True):
            value.setType(argument.type)
        node = graph.insertNode(graph.create(f"aten::{operator}", inputs, len(schema.returns)))
        if torch._C._jit_shape_compute_graph_for_node(node) is not None:
            return True
    return False


# An index expression is a chain of views.
FORMS = {
    name: ["index"] * (name == "index")
    + [form for form, end in ((FUNCTIONAL, ""), (IN_PLACE, "_")) if has_shape_function(name + end)]
    for name in TABLE
}
OPERATIONS = [name for name, forms in FORMS.items() if forms]

LACKS = [
    *({"op": name, "why": f"torch.jit has no shape function for aten::{name}"} for name in TABLE if not FORMS[name]),
    *({"op": name, "form": OUT, "why": "a shape function has no out="} for name in OPERATIONS),
    *(
        {"op": name, "form": form, "why": f"torch.jit has no shape function for this form of aten::{name}"}
        for name in OPERATIONS
        for form in (FUNCTIONAL, IN_PLACE)
        if form not in FORMS[name] and name != "index"
    ),
]
UNSUPPORTED = [{"what": LACKING, "ops": OPERATIONS}]


def literal(value, names):
    """An argument as TorchScript's source has it. `names` are those of the tensors in order."""
    match value:
        case torch.Tensor():
            return next(names)
        case slice():
            return ":".join("" if each is None else str(each) for each in (value.start, value.stop, value.step))
        case list() | tuple():
            text = ", ".join(literal(each, names) for each in value)
            return f"[{text}]" if text else "torch.jit.annotate(List[int], [])"
        case complex():
            return f"complex({literal(value.real, names)}, {literal(value.imag, names)})"
        case float() if not math.isfinite(value):
            return f"float('{value}')"
    return "..." if value is Ellipsis else str(value) if isinstance(value, torch.dtype) else repr(value)


def source(name, form, given, named):
    """The source of a function of the tensors of a call, which has no other parameters."""
    operands = [leaf for leaf in pytree.tree_leaves((given, named)) if is_tensor(leaf)]
    parameters = [f"x{at}" for at in range(len(operands))]
    names = iter(parameters)
    if name == "index":
        tensor, items = given
        items = items if isinstance(items, tuple) else (items,)
        # TorchScript's parser does not survive x[], and has no x[()].
        call = f"{literal(tensor, names)}[{', '.join(literal(each, names) for each in items or (...,))}]"
    else:
        texts = [literal(each, names) for each in given]
        texts += [f"{option}={literal(value, names)}" for option, value in named.items()]
        is_method = form == IN_PLACE or not hasattr(torch, name)
        called = f"{texts.pop(0)}.{name}" if is_method else f"torch.{name}"
        call = f"{called}{'_' if form == IN_PLACE else ''}({', '.join(texts)})"
    return f"def call({', '.join(f'{each}: Tensor' for each in parameters)}):\n    return {call}\n", operands


def shape_of(graph, operands):
    """The sizes of the result of a graph, node by node."""
    known = {value.debugName(): list(tensor.shape) for value, tensor in zip(graph.inputs(), operands, strict=True)}
    for node in graph.nodes():
        given = [known[value.debugName()] for value in node.inputs()]
        if node.kind() == "prim::Constant":
            result = node.output().toIValue()
        elif node.kind() == "prim::ListConstruct":
            result = given
        else:
            computed = torch._C._jit_shape_compute_graph_for_node(node)
            if computed is None:
                raise Unsupported(LACKING)
            function = torch._C._create_function_from_graph("shape", computed)
            # A shape function has the first parameters of the operator, as many as it needs, and ignores the untyped.
            types = [value.type().kind() for value in computed.inputs()]
            taken = [None if kind == "AnyType" else each for kind, each in zip(types, given)]
            try:
                result = function(*taken)
            except (torch.jit.Error, RuntimeError) as error:
                raise RuntimeError(RAISED.sub("", str(error), count=1).strip()) from None
        known[node.output().debugName()] = result
    return known[next(graph.outputs()).debugName()]


def dtype_of(operation, operands):
    """The dtype of the call on the meta device. One that it rejects for shapes has the dtype of its first operand."""
    try:
        return operation().dtype
    except Exception as error:
        if isinstance(error, TypeError) or OF_ELEMENTS.search(str(error)):
            raise
        return operands[0].dtype


def empty(shape, dtype):
    """A tensor of this shape, which may have more elements than can be counted."""
    try:
        return torch.empty(shape, dtype=dtype, device="meta")
    except RuntimeError:
        return torch.empty((), dtype=dtype, device="meta").expand(shape)


def call(name, otherwise):
    """The operation as the protocol calls it."""

    def run(form, out, *arguments):
        given, named = eager.split(name, arguments, out)
        text, operands = source(name, form, given, named)
        if not operands:
            raise Unsupported(LACKING)
        target, *others = arguments
        # A call in place on the meta device may change the shape of its target.
        copied = [target.detach(), *others] if form == IN_PLACE else arguments
        try:
            graph = torch.jit.CompilationUnit(text).call.graph
        except RuntimeError as error:
            # TorchScript has no overload for these arguments, as the function of Python may not have one.
            otherwise(form, out, *copied)
            raise Unsupported(LACKING) from error
        torch._C._jit_pass_constant_propagation(graph)
        shape = shape_of(graph, operands)
        if any(size < 0 for size in shape):
            raise Inexpressible(f"the shape function returns {shape}")
        dtype = dtype_of(lambda: otherwise(form, out, *copied), operands)
        return target if form == IN_PLACE and list(target.shape) == shape else empty(shape, dtype)

    return run


def operations():
    return {name: call(name, otherwise) for name, otherwise in eager.operations().items() if FORMS[name]}
