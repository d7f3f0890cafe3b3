"""The operation table as calls of PyTorch's public Python functions.

An operation is `torch.NAME`, a method of tensors where there is no such function, or a function of `torch.special`,
`torch.linalg` or `torch.nn.functional`; in place it is the method `NAME_`, and out a keyword. The kernels of gradients, for
which Python has no function, are those of `torch.ops.aten`. Numbers stay as they are.
"""

import torch
import torch.nn.functional

from broadcheck_adapter import Dtype, Sizes, Unsupported
from broadcheck_adapter.numpy_like import by_tensors
from broadcheck_adapter.operation import FUNCTIONAL, IN_PLACE, OUT
from table import TABLE
from tensors import dtypes

# What is documented as a function of this module, next to any other names: losses, and the parts of networks.
OF_NETWORKS = [
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "hinge_embedding_loss",
    "margin_ranking_loss", "kl_div", "poisson_nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    "cosine_embedding_loss", "triplet_margin_loss", "cosine_similarity", "pairwise_distance", "prelu", "linear",
    "bilinear", "layer_norm",
    "scaled_dot_product_attention",
]  # fmt: skip

# The names in `cdist` of the modes that its operator numbers.
COMPUTE_MODES = {
    0: "use_mm_for_euclid_dist_if_necessary",
    1: "use_mm_for_euclid_dist",
    2: "donot_use_mm_for_euclid_dist",
}

LACKS = [
    {"op": "rsub", "form": OUT, "why": "torch.rsub has no out="},
    {"op": "binomial", "form": OUT, "why": "torch.binomial has no out="},
    {"op": "index.Tensor", "form": OUT, "why": "x[...] has no out="},
    {"op": "are_expandable", "why": "only C++ has at::are_expandable"},
    {"op": "is_expandable_to", "why": "only C++ has at::is_expandable_to"},
    {"op": "bernoulli", "form": FUNCTIONAL, "why": "torch.bernoulli takes a tensor of probabilities alone"},
] + [
    {"op": name, "form": OUT, "why": f"torch.nn.functional.{name} has no out="}
    for name in ["mse_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss", "binary_cross_entropy"]
]  # fmt: skip


def function(name):
    """PyTorch's function, or the method of that name; None for what is only done in place."""
    if name in OF_NETWORKS:
        return getattr(torch.nn.functional, name)
    if name.endswith("_backward"):
        return kernel_of_gradient(name)
    for prefix in ("special", "linalg"):
        if name.startswith(prefix + "_"):
            return getattr(getattr(torch, prefix), name.removeprefix(prefix + "_"))
    return getattr(torch, name, None) or getattr(torch.Tensor, name, None)


# The answer to a dtype that PyTorch got in a later release.
NO_DTYPE = "this release of PyTorch does not have the dtype"

UNSUPPORTED = [{"what": NO_DTYPE, "ops": ["promote_types", "can_cast"]}]

# The numbers of the reductions of losses.
REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def kernel_of_gradient(name):
    kernel = getattr(torch.ops.aten, name)

    def call(*given, out=None, **named):
        given = [REDUCTIONS.get(each, each) if isinstance(each, str) else each for each in given]
        if "reduction" in named:
            named["reduction"] = REDUCTIONS[named["reduction"]]
        return kernel(*given, **named) if out is None else kernel(*given, **named, grad_input=out)

    return call


def is_default(given, default):
    """1, 1.0 and True are not the same."""
    return type(given) is type(default) and given == default


# Reductions whose overloads for all dimensions take nothing else, so that None is written out next to other arguments.
ALL_DIMENSIONS = ["sum", "mean", "var", "std", "var_mean", "std_mean"]


def split(name, arguments, out=None):
    """The required arguments, and by name the options that are not left out."""
    parameters = TABLE[name]
    given, rest = arguments[: parameters.required], arguments[parameters.required :]
    pairs = zip(parameters.options.items(), rest, strict=True)
    named = {option: value for (option, default), value in pairs if not is_default(value, default)}
    if "dtype" in named:
        named["dtype"] = dtypes[named["dtype"]]
    if out is not None:
        named["out"] = out
    if name in ALL_DIMENSIONS and named:
        named.setdefault("dim", None)
    return given, named


SWITCH = torch.utils.backcompat.broadcast_warning
SWITCH_AT_FIRST = SWITCH.enabled


def broadcast_warning(enabled=None):
    """Assigns to the switch, or reads it if there is nothing to assign."""
    if enabled is None:
        return SWITCH.enabled
    SWITCH.enabled = enabled
    return None


def cdist(x1, x2, compute_mode=None, **named):
    if compute_mode is not None:
        named["compute_mode"] = COMPUTE_MODES.get(compute_mode, compute_mode)
    return torch.cdist(x1, x2, **named)


def solve_triangular(a, b, upper, **named):
    return torch.linalg.solve_triangular(a, b, upper=upper, **named)


def scalar_type(name):
    """The dtype of that name, which this release may not have."""
    found = getattr(torch, name, None)
    if found is None:
        raise Unsupported(NO_DTYPE)
    return found


def name_of(dtype):
    return Dtype(str(dtype).removeprefix("torch."))


def set_item(tensor, items, value):
    tensor[items] = value
    return tensor


# Operations that take their arguments otherwise than all others.
SPECIAL = {
    "linalg_solve_triangular": solve_triangular,
    "meshgrid": lambda tensors, indexing="ij": torch.meshgrid(*tensors, indexing=indexing),
    "cartesian_prod": lambda tensors: torch.cartesian_prod(*tensors),
    "broadcast_tensors": lambda tensors: torch.broadcast_tensors(*tensors),
    "broadcast_shapes": lambda shapes: Sizes(torch.broadcast_shapes(*shapes)),
    "einsum": lambda equation, operands: torch.einsum(equation, *operands),
    "tensordot": lambda left, right, *dims, **out: torch.tensordot(left, right, dims=dims, **out),
    "index": lambda tensor, items: tensor[items],
    "index.Tensor": lambda tensor, indices: tensor[by_tensors(indices)],
    "grad": lambda tensor: tensor.grad,
    "cdist": cdist,
    "backcompat.broadcast_warning": broadcast_warning,
    "promote_types": lambda a, b: name_of(torch.promote_types(scalar_type(a), scalar_type(b))),
    "can_cast": lambda a, b: torch.can_cast(scalar_type(a), scalar_type(b)),
    "result_type": lambda a, b: name_of(torch.result_type(a, b)),
    "infer_size": lambda a, b: Sizes(torch._C._infer_size(torch.Size(a), torch.Size(b))),
}

# The same of what is done in place alone.
WRITES = {"setitem": set_item}


def call(name, around):
    """The operation as the protocol calls it."""
    found = SPECIAL.get(name) or function(name), WRITES.get(name) or getattr(torch.Tensor, name + "_", None)
    functional, in_place = (each and around(each) for each in found)

    def run(form, out, *arguments):
        given, named = split(name, arguments, out)
        return (in_place if form == IN_PLACE else functional)(*given, **named)

    return run


# Functions whose results are no tensors, and no part of a graph.
NO_TENSORS = ["infer_size", "promote_types", "can_cast", "result_type"]


def operations(around=lambda function: function):
    """A function for each operation. `around` wraps those that are called on tensors."""
    return {name: call(name, (lambda function: function) if name in NO_TENSORS else around) for name in TABLE}


def reset():
    """Nothing is left of the last program, and random numbers are the same each time."""
    torch.manual_seed(0)
    SWITCH.enabled = SWITCH_AT_FIRST
