"""Programs of one call: functional, in place, with `out=` of several kinds, and with gradients.

Nothing here says what is expected. PyTorch runs a call once, to learn which shape and dtype `out=` has to have.
"""

import base64

import torch

from opinfo_calls import Unfit
from tensors import DTYPES, elements

# The most elements of a tensor, and of one in any other form than the functional.
MOST, MOST_IN_FORMS = 34_000, 512

# Dtypes that `out=` may have instead: one that does not hold the result, and one that holds more.
WRONG = {
    "float16": "int16", "bfloat16": "int32", "float32": "int32", "float64": "int64", "complex64": "float32",
    "complex128": "float64", "uint8": "bool", "int8": "bool", "int16": "bool", "int32": "bool", "int64": "bool",
    "bool": "uint8",
}  # fmt: skip
WIDER = {
    "bool": "int8", "uint8": "int16", "int8": "int16", "int16": "int32", "int32": "int64", "int64": "float32",
    "float16": "float32", "bfloat16": "float32", "float32": "float64", "float64": "complex128", "complex64": "complex128",
}  # fmt: skip


def dtype_of(tensor):
    return str(tensor.dtype).removeprefix("torch.")


def encoded(tensor):
    return base64.b64encode(elements(tensor)).decode()


class Builder:
    """A program in the making. Values are numbered at the end, since steps come after all inputs."""

    def __init__(self, gradients=False):
        self.gradients = gradients
        self.inputs, self.steps = [], []
        self.late = []
        self.known = {}
        self.leaves = []

    def add_input(self, tensor, requires_grad=False):
        """A contiguous tensor as an input."""
        at = len(self.inputs)
        dtype, shape = dtype_of(tensor), list(tensor.shape)
        self.inputs.append({"name": f"x{at}", "dtype": dtype, "shape": shape, "data": encoded(tensor)})
        value = {"value": at}
        if requires_grad:
            self.inputs[-1]["requires_grad"] = True
            self.leaves.append(value)
        return value

    def add_step(self, name, op, args, form="functional", out=None):
        value = {"value": len(self.steps)}
        self.late.append(value)
        step = {"name": name, "op": op, "form": form, "args": args}
        if out is not None:
            step["out"] = out
        self.steps.append(step)
        return value

    def tensor(self, tensor):
        """A tensor of any layout: its memory as an input, and the view of it as a step."""
        known = self.known.get(id(tensor))
        if known is None:
            known = self.known[id(tensor)] = self.laid_out(tensor, self.gradients and tensor.requires_grad)
        return known

    def laid_out(self, tensor, requires_grad):
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
            raise Unfit("a tensor that is not dense and on the CPU")
        if dtype_of(tensor) not in DTYPES:
            raise Unfit(f"a tensor of {dtype_of(tensor)}")
        if tensor.numel() > MOST:
            raise Unfit(f"a tensor of more than {MOST:,} elements")
        tensor = tensor.detach().resolve_conj().resolve_neg()
        if tensor.is_contiguous():
            return self.add_input(tensor, requires_grad)
        name = f"v{len(self.steps)}"
        order = sorted(range(tensor.dim()), key=lambda dim: -tensor.stride(dim))
        if tensor.permute(order).is_contiguous():
            base = self.add_input(tensor.permute(order), requires_grad)
            back = [order.index(dim) for dim in range(tensor.dim())]
            return self.add_step(name, "permute", [{"tensor": base}, {"ints": back}])
        size, stride, offset = list(tensor.shape), list(tensor.stride()), tensor.storage_offset()
        length = offset + 1 + sum((each - 1) * step for each, step in zip(size, stride, strict=True))
        if tensor.numel() == 0:
            length = offset
        if length > MOST:
            raise Unfit(f"a view of more than {MOST:,} elements of memory")
        # What lies between the elements is whatever was there before: zeros make it the same in each run.
        memory = torch.zeros(length, dtype=tensor.dtype)
        memory[places(tensor) + offset] = tensor.flatten()
        base = self.add_input(memory, requires_grad)
        args = [{"tensor": base}, {"ints": size}, {"ints": stride}, {"int": offset}]
        return self.add_step(name, "as_strided", args)

    def argument(self, argument):
        """An argument whose tensors are values of this program."""
        if isinstance(argument, dict):
            if "tensor" in argument:
                return {"tensor": self.tensor(argument["tensor"])}
            for key in ("tensors", "indices"):
                if key in argument:
                    return {key: [None if each is None else self.tensor(each) for each in argument[key]]}
        return argument

    def arguments(self, call):
        return [self.argument(each) for each in call.arguments]

    def finish(self):
        for value in self.late:
            value["value"] += len(self.inputs)
        return {"inputs": self.inputs, "steps": self.steps}


def filled(shape, dtype):
    """A tensor with elements that no result has by chance."""
    values = torch.arange(7, 7 + torch.Size(shape).numel()) % 100
    return values.to(getattr(torch, dtype)).reshape(shape)


def functional(call):
    builder = Builder()
    builder.add_step("r", call.row["name"], builder.arguments(call))
    return builder.finish()


def in_place(call):
    builder = Builder()
    builder.add_step("r", call.row["name"], builder.arguments(call), "in_place")
    return builder.finish()


def to_out(call, shape, dtype, permuted=False):
    builder = Builder()
    args = builder.arguments(call)
    order = list(range(len(shape)))[::-1]
    out = builder.add_input(filled(shape[::-1] if permuted else shape, dtype))
    if permuted:
        out = builder.add_step("o", "permute", [{"tensor": out}, {"ints": order}])
    builder.add_step("r", call.row["name"], args, "out", out)
    return builder.finish()


def gradient(call, result):
    """The gradient of the result, or of the first of several, for each input that keeps gradients; None without one."""
    several = isinstance(result, (tuple, list))
    result = result[0] if several else result
    builder = Builder(gradients=True)
    value = builder.add_step("r", call.row["name"], builder.arguments(call))
    if not builder.leaves or dtype_of(result) not in DTYPES or not (result.is_floating_point() or result.is_complex()):
        return None
    upstream = (torch.arange(result.numel()) % 5 - 1.5).to(result.dtype).reshape(result.shape)
    if result.is_complex():
        upstream = upstream * (1 - 0.5j)
    part = {**value, "part": 0} if several else value
    if several:
        builder.late.append(part)
    builder.add_step("b", "backward", [{"tensor": part}, {"tensor": builder.add_input(upstream)}])
    for at, leaf in enumerate(builder.leaves):
        builder.add_step(f"g{at}", "grad", [{"tensor": leaf}])
    return builder.finish()


def tensors_of(call):
    for argument in call.arguments:
        if isinstance(argument, dict):
            for key in ("tensor", "tensors", "indices"):
                values = argument.get(key, [])
                yield from [values] if isinstance(values, torch.Tensor) else filter(None.__ne__, values)


def result_of(call):
    """What PyTorch returns, or None where it raises."""
    try:
        with torch.no_grad():
            return call.run()
    except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        return None


def is_small(call, result):
    tensors = [*tensors_of(call), *([result] if isinstance(result, torch.Tensor) else [])]
    return all(tensor.numel() <= MOST_IN_FORMS for tensor in tensors)


def places(tensor):
    """Where the elements are in memory, in row-major order, from the first on."""
    found = torch.zeros(1, dtype=torch.int64)
    for size, step in zip(tensor.shape, tensor.stride(), strict=True):
        found = (found[:, None] + torch.arange(size) * step).flatten()
    return found


def overlaps_unseen(tensor):
    """Whether elements share memory although no stride is 0, which is all that PyTorch looks for."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    if tensor.numel() == 0 or any(size > 1 and step == 0 for size, step in sizes):
        return False
    return places(tensor).unique().numel() < tensor.numel()


def programs(call, left_out, gradients=True):
    """The programs of a call, each with what it is. What is left out of them is counted."""
    forms = call.row["forms"]
    if call.in_place:
        if "in_place" in forms:
            yield "in_place", in_place(call)
        return
    if "functional" in forms:
        yield "functional", functional(call)
    result = result_of(call)
    if isinstance(result, torch.Tensor) and result.numel() > MOST:
        return
    if not is_small(call, result):
        return
    if "in_place" in forms and "tensor" in call.arguments[0]:
        if overlaps_unseen(call.arguments[0]["tensor"]):
            left_out["in place where elements share memory that PyTorch does not check: the result is undefined"] += 1
        else:
            yield "in_place", in_place(call)
    if "out" in forms:
        yield from with_out(call, result, left_out)
    if gradients and "functional" in forms:
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        of_tensors = results and all(isinstance(each, torch.Tensor) for each in results)
        program = gradient(call, result) if of_tensors else None
        if program is not None:
            yield "gradient", program


def with_out(call, result, left_out):
    if not isinstance(result, torch.Tensor):
        # A call that is rejected: `out=` has the shape and the dtype of the first operand.
        result = next(tensors_of(call), None)
    if result is None or dtype_of(result) not in DTYPES:
        return
    shape, dtype = list(result.shape), dtype_of(result)
    yield "out", to_out(call, shape, dtype)
    if result.dim() > 1 and result.numel() > 1:
        # apply_triu_tril multiplies the number of a matrix by the last stride of the batch.
        if call.row["name"] in ("tril", "triu") and result.dim() > 3:
            left_out["out= of permuted batches: PyTorch writes beyond it, which programs after it would be blamed for"] += 1
        else:
            yield "out_strides", to_out(call, shape, dtype, permuted=True)
    yield "out_shape", to_out(call, [*shape[:-1], shape[-1] + 1] if shape else [1], dtype)
    yield "out_shape", to_out(call, [0], dtype)
    yield "out_dtype", to_out(call, shape, WRONG[dtype])
    if dtype in WIDER:
        yield "out_wider", to_out(call, shape, WIDER[dtype])
