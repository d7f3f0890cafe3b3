"""Finds the functions of libtorch whose operands broadcast, and prints those that the table of operations lacks.

    python3 adapters/pytorch/probe.py

needs a torch with the test dependencies of `opinfo.py`. The calls are the samples of PyTorch's OpInfo database, and what
they call of libtorch's dispatcher, forward and backward; functions of the dispatcher that none of them calls are called
with operands of one shape. In each call one dimension of one tensor is made 1. If the result is that of the call with
this tensor expanded again, and another one for other elements, the function broadcasts. It is in the table
(`adapters/operations.json`), or in `outside.toml` with the reason why not, or it is printed, and the exit code is 1.
"""

import collections
import fnmatch
import itertools
import json
import os
import signal
import sys
import tomllib
import warnings
from pathlib import Path

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

HERE = Path(__file__).parent

# Samples of an OpInfo, and calls of an overload, that are looked at. The samples are spread over the first `MOST`: those
# with batches often come last.
SAMPLES, MOST, CALLS = 16, 400, 16
# Seconds for a function.
TIMEOUT = 30
# Elements of an operand: what needs more takes long.
ELEMENTS = 5000
# The shapes of operands for functions that no sample calls.
SHAPES = [(2, 3), (3,), (3, 3), (2, 3, 3), (2, 3, 4, 4)]
# Operators that are called otherwise than their operation.
REFLECTED = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "mod": "remainder"}
# What writes files, sets up processes, or ends this one.
UNSAFE = ("record_stream", "_cuda", "cudnn", "miopen", "mps", "_test", "from_file", "distributed", "quantize", "fbgemm")


def tensors_of(given):
    """The places of tensors among the flattened arguments of a call."""
    return [at for at, leaf in enumerate(given) if isinstance(leaf, torch.Tensor)]


class Call:
    """A function and its arguments, flattened. `writes` are the places of tensors that it writes to."""

    def __init__(self, function, args, kwargs, writes=()):
        self.function = function
        self.leaves, self.structure = pytree.tree_flatten((args, kwargs))
        self.writes = set(writes)

    def run(self, leaves):
        copies = [leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        # An expanded operand stays one: a copy has the same elements, and is written to without a conflict.
        args, kwargs = pytree.tree_unflatten(copies, self.structure)
        torch.manual_seed(0)
        results = self.function(*args, **kwargs)
        written = [copies[at] for at in sorted(self.writes)]
        return [leaf for leaf in pytree.tree_leaves((results, written)) if isinstance(leaf, (torch.Tensor, float, int))]

    def is_small(self):
        return all(self.leaves[at].numel() <= ELEMENTS for at in tensors_of(self.leaves))

    def broadcasts(self):
        """The operand and the dimension that were made 1 without a difference, or None."""
        places = [at for at in tensors_of(self.leaves) if at not in self.writes]
        if len(places) < 2 or not self.is_small():
            return None
        for at in places:
            operand = self.leaves[at]
            if operand.layout != torch.strided or operand.is_quantized:
                continue
            for dim in range(operand.dim()):
                if operand.shape[dim] > 1 and self.is_as_expanded(at, dim):
                    return at, dim
        return None

    def is_as_expanded(self, at, dim):
        operand = self.leaves[at].detach()
        narrow, other = (operand.narrow(dim, index, 1) for index in (0, operand.shape[dim] - 1))
        try:
            found, expected = (self.run_with(at, given) for given in (narrow, narrow.expand_as(operand)))
            # A function that does not look at the elements is not told by its result.
            others = self.run_with(at, other)
        except Exception:
            return False
        return len(found) > 0 and same(found, expected) and not same(found, others)

    def run_with(self, at, operand):
        return self.run([*self.leaves[:at], operand, *self.leaves[at + 1 :]])


def same(found, expected):
    def agree(a, b):
        if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
            return a == b
        if a.shape != b.shape or a.dtype != b.dtype or a.layout != torch.strided:
            return False
        return torch.allclose(a.to_dense(), b.to_dense(), equal_nan=True) if a.dtype != torch.bool else a.equal(b)

    try:
        return len(found) == len(expected) and all(agree(a, b) for a, b in zip(found, expected))
    except Exception:
        return False


class Recorder(TorchDispatchMode):
    """Keeps the calls of the dispatcher."""

    def __init__(self):
        super().__init__()
        self.calls = collections.defaultdict(list)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        kept = self.calls[function]
        if len(kept) < CALLS:
            call = call_of(function, args, kwargs)
            if call is not None:
                kept.append(call)
        return function(*args, **kwargs)


def call_of(function, args, kwargs):
    """The call with copies of its tensors, as they are before it; None if they are too large."""
    leaves, _ = pytree.tree_flatten((args, kwargs))
    if any(isinstance(leaf, torch.Tensor) and leaf.numel() > ELEMENTS for leaf in leaves):
        return None
    copies = pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.detach().clone(), (args, kwargs))
    return Call(function, *copies, writes=written(function._schema, args, kwargs))


def written(schema, args, kwargs):
    """The places, among the flattened arguments, of those that the schema says are written to."""
    places, at = [], 0
    named = {argument.name: argument for argument in schema.arguments}
    given = [*zip(schema.arguments, args), *((named[name], value) for name, value in kwargs.items())]
    for argument, value in given:
        leaves = pytree.tree_leaves(value)
        if argument.alias_info is not None and argument.alias_info.is_write:
            places += range(at, at + len(leaves))
        at += len(leaves)
    return places


def samples(info):
    torch.manual_seed(0)
    for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
        if dtype in info.dtypes:
            gradients = dtype == torch.float32 and info.supports_autograd
            every = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=gradients), MOST))
            count = min(SAMPLES, len(every))
            return [every[at * len(every) // count] for at in range(count)]
    return []


def of_infos(recorder):
    """The functions of the OpInfo database that broadcast, by name. What they call of the dispatcher is recorded."""
    found = {}
    for info in op_db:
        progress(info.name)
        try:
            every = samples(info)
        except Exception:
            continue
        for sample in every:
            record(recorder, info, sample)
        calls = [Call(info.op, (sample.input, *sample.args), sample.kwargs) for sample in every]
        if where := in_a_process(lambda: first_that_broadcasts(calls)):
            found.setdefault(info.name, where)
    return found


def record(recorder, info, sample):
    try:
        with recorder:
            results = pytree.tree_leaves(info(sample.input, *sample.args, **sample.kwargs))
            roots = [leaf for leaf in results if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
            if roots:
                torch.autograd.backward(roots, [torch.ones_like(root) for root in roots])
    except Exception:
        pass


def of_dispatcher(recorder):
    """The functions of the dispatcher that broadcast, by name."""
    found = {}
    for function in overloads():
        progress(str(function))
        calls = recorder.calls.get(function) or list(made_up(function))
        if where := in_a_process(lambda: first_that_broadcasts(calls)):
            found.setdefault(str(function).removeprefix("aten."), where)
    return found


def first_that_broadcasts(calls):
    return next((where for call in calls if (where := call.broadcasts())), None)


def in_a_process(function):
    """What a function returns, or None if it ends the process or takes too long, as calls with odd arguments may."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(TIMEOUT)
        os.write(writer, json.dumps(function()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def overloads():
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, name = schema.name.partition("::")
        if namespace == "aten" and not any(part in name for part in UNSAFE):
            packet = getattr(torch.ops.aten, name, None)
            overload = schema.overload_name or "default"
            if packet is not None and overload in packet.overloads():
                yield getattr(packet, overload)


def made_up(function):
    """Calls with tensors of one shape, if it takes at least two."""
    arguments = function._schema.arguments
    takes = [argument for argument in arguments if "Tensor" in str(argument.type)]
    if len(takes) < 2 and not any("List[Tensor]" in str(argument.type) for argument in takes):
        return
    for shape in SHAPES:
        for dtype in (torch.float32, torch.int64):
            given, writes, at = [], [], 0
            for argument in arguments:
                value = argument_of(argument, shape, dtype)
                leaves = pytree.tree_leaves(value)
                if argument.alias_info is not None and argument.alias_info.is_write:
                    writes += range(at, at + len(leaves))
                at += len(leaves)
                given.append(value)
            split = sum(not argument.kwarg_only for argument in arguments)
            named = {argument.name: value for argument, value in zip(arguments[split:], given[split:])}
            yield Call(function, tuple(given[:split]), named, writes)


def argument_of(argument, shape, dtype):
    kind = str(argument.type)
    if argument.has_default_value() and "Tensor" not in kind:
        return argument.default_value
    if "List[Tensor]" in kind or "List[Optional[Tensor]]" in kind:
        return [elements(shape, dtype), elements(shape, dtype)]
    if "Tensor" in kind:
        return elements(shape, dtype)
    if kind.startswith("Optional"):
        return None
    if "List[int]" in kind:
        return [1]
    if "List" in kind:
        return []
    return {"int": 1, "float": 1.0, "number": 1, "bool": False, "str": ""}.get(kind, 1)


def elements(shape, dtype):
    torch.manual_seed(len(shape))
    whole = torch.randint(0, 3, shape)
    return whole.to(dtype) + torch.rand(shape) / 2 if dtype.is_floating_point else whole.to(dtype)


def base(name):
    """The name of an operation without its module, its overload and its form."""
    name = name.removeprefix("nn.functional.").replace("linalg.", "linalg_").replace("special.", "special_")
    name = name.split(".")[0]
    # Indexing is an operation of the table.
    if name == "__getitem__":
        return "index"
    # A reflected operator is its operator, with the operands in the other order.
    if name.startswith("__r") and name.endswith("__"):
        name = name.removeprefix("__r").removesuffix("__")
        return REFLECTED.get(name, name)
    return name.removesuffix("_") if not name.endswith("__") else name


def table():
    rows = json.loads((HERE / ".." / "operations.json").read_text())
    names = set()
    for row in rows:
        aliases = [alias if isinstance(alias, str) else alias["name"] for alias in row.get("aliases", [])]
        names |= {row["name"], row["schema"].split(".")[0], *aliases}
    return {base(name) for name in names}


# Read beyond a tensor that is made smaller: what is there decides whether they seem to broadcast.
BY_CHANCE = {"*batch_norm_backward"}


def progress(name):
    if sys.stderr.isatty():
        print(f"\r\033[K{name[:70]}", end="", file=sys.stderr, flush=True)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    # Memory that nothing wrote is NaN then, and the same each time.
    torch.use_deterministic_algorithms(True, warn_only=True)
    recorder = Recorder()
    found = {base(name.replace("masked.", "masked_")): where for name, where in of_infos(recorder).items()}
    for name, where in of_dispatcher(recorder).items():
        found.setdefault(base(name), where)
    known = table()
    outside = tomllib.loads((HERE / "outside.toml").read_text())
    unknown = sorted(name for name in found if name not in known)
    new = [name for name in unknown if not any(fnmatch.fnmatchcase(name, entry) for entry in outside)]
    gone = sorted(entry for entry in outside.keys() - BY_CHANCE if not fnmatch.filter(unknown, entry))
    print(f"{len(found)} functions broadcast: {len(found) - len(unknown)} in the table, ", end="")
    print(f"{len(unknown) - len(new)} outside with {len(outside)} reasons, {len(new)} new")
    for name in new:
        at, dim = found[name]
        print(f"{name}: dimension {dim} of tensor {at} may be 1")
    for name in gone:
        print(f"{name}: outside.toml lists it, and nothing of that name broadcasts that is not in the table")
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main())
