#!/usr/bin/env python3
"""reference · pow · values

Exits with 1 if the difference is there, with 0 if it is not, with 2 if Python has no such call.
"""

import math
import sys
import warnings

import torch

torch.set_warn_always(True)
# As it was found: with more, the order of sums and of refusals may be another.
torch.set_num_threads(1)


NO_SUCH_CALL = ["invalid combination of arguments", "must be Tensor, not", "failed to match any schema"]


class Refused(Exception):
    """What a step was refused with."""


def attempt(call, *needs):
    """The result of a call and its warnings, or why there is none."""
    for value in needs:
        if isinstance(value, Refused):
            return Refused("not run, for a value is missing"), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:
            if isinstance(error, (TypeError, RuntimeError)) and any(words in str(error) for words in NO_SUCH_CALL):
                print("Python has no such call, and says so before libtorch is asked:", error, sep="\n")
                sys.exit(2)
            result = Refused(str(error).rstrip())
    return result, [str(warning.message).split(" (Triggered internally at")[0] for warning in caught]


def held(result):
    """A tensor as it is now, for it may be written to later."""
    if isinstance(result, torch.Tensor):
        place = (result.untyped_storage()._cdata, result.storage_offset())
        return result.dtype, tuple(result.shape), result.stride(), place, result.detach().reshape(-1).tolist()
    if isinstance(result, (tuple, list)) and not isinstance(result, torch.Size):
        return [held(part) for part in result]
    return result


def near(wanted, got, slack):
    """The same bits, any NaN being any other; or, with some slack, no farther apart than it."""
    if isinstance(wanted, complex):
        return near(wanted.real, got.real, slack) and near(wanted.imag, got.imag, slack)
    if not isinstance(wanted, float) or math.isnan(wanted):
        return wanted == got or (wanted != wanted and got != got)
    same = wanted == got and math.copysign(1, wanted) == math.copysign(1, got)
    return same or (slack > 0 and abs(wanted - got) <= slack)


def field(value, at):
    """Dtype, shape, strides, place or elements of a tensor; anything else as it is."""
    return value[at] if isinstance(value, tuple) else value


def alike_elements(wanted, got, slack):
    return isinstance(got, list) and len(wanted) == len(got) and all(near(a, b, slack) for a, b in zip(wanted, got))


different = []


def expect(name, what, wanted, got, same):
    print(f"{name}, {what}")
    print(f"  expected: {wanted}")
    print(f"  observed: {got}")
    if not same:
        different.append(name)


def short(text):
    return text if len(text) <= 400 else text[:400] + "…"


def program():
    seen = {}
    x = torch.tensor([-1.0], dtype=torch.float32)
    r, warned = attempt(lambda: torch.pow(x, 16777217.0))
    seen["r"], seen["r warned"] = held(r), warned
    seen["x after"] = held(x)
    return seen


seen = program()
wanted = torch.tensor([1.0], dtype=torch.float32).tolist()
expect("r", "values", short(str(wanted)), short(str(field(seen["r"], 4))), alike_elements(wanted, field(seen["r"], 4), 1.0))
sys.exit(1 if different else 0)
