"""PyTorch's own samples as programs: the OpInfo database of `torch.testing._internal`, and its error inputs.

    opinfo.py [--ops NAME,…] [--limit N]

prints one JSON object a line: `program`, in the protocol of `../README.md`, with `from`, which sample it was; or
`left_out`, how many samples are no program and why. `--limit` takes so many samples of each OpInfo, dtype and kind. The
last line is `{"done": …}` with the release of PyTorch. `requirements-opinfo.txt` has what PyTorch's tests need besides
PyTorch.
"""

import argparse
import itertools
import json
import os
import random
import sys
import warnings
from collections import Counter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

HERE = os.path.dirname(os.path.abspath(__file__))
# Samples of a dtype that an OpInfo does not list: calls that are rejected, for the most part.
UNLISTED = 6


def database():
    """The OpInfos, or an end with the command that installs what is missing."""
    try:
        import torch  # noqa: F401
    except ImportError as error:
        sys.exit(f"{sys.executable} has no PyTorch ({error}): give one that has it with --python")
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError as error:
        requirements = os.path.join(HERE, "requirements-opinfo.txt")
        command = f"{sys.executable} -m pip install --require-hashes -r {requirements}"
        sys.exit(f"PyTorch's tests cannot be imported ({error}): install what they need with `{command}`")
    return op_db


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ops", type=lambda text: text.split(","))
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = database()
    import torch
    from tensors import dtypes

    torch.set_num_threads(1)
    from opinfo_calls import row_of

    without = Counter()
    for info in found:
        names = [info.name, info.name.removeprefix("nn.functional."), info.name.replace(".", "_")]
        row = next((row for row in map(row_of, names) if row is not None), None)
        if row is None:
            without[info.name] += 1
            continue
        if asked.ops and row[0] not in asked.ops:
            continue
        walk(info, row[0], dtypes, asked.limit)
    if not asked.ops:
        tell_left_out("all others", "the table has no such operation", len(without), "operations")
    print(json.dumps({"done": {"torch": torch.__version__}}))


def tell(program, **origin):
    print(json.dumps({"program": program, "from": origin}, separators=(",", ":")))


def tell_left_out(op, why, count, unit="samples"):
    print(json.dumps({"left_out": {"op": op, "why": why, "count": count, "of": unit}}))


def seeded(torch):
    """The same samples in each run, whichever operations are asked for."""
    torch.manual_seed(0)
    random.seed(0)
    try:
        import numpy

        numpy.random.seed(0)
    except ImportError:
        pass


def walk(info, row, dtypes, limit):
    """Tells the programs of an OpInfo, and at its end what is none."""
    left_out = Counter()
    for kind, dtype, samples in sources(info, dtypes, left_out):
        samples = itertools.islice(samples, limit) if limit is not None else samples
        for number, sample in enumerate(safely(samples, left_out)):
            made = turned(info, row, sample, kind, left_out)
            for form, program in made:
                origin = {"opinfo": info.name, "variant": info.variant_test_name, "dtype": dtype, "kind": kind}
                tell(program, **origin, sample=number, form=form)
    for why, count in sorted(left_out.items()):
        tell_left_out(row, why, count)


def sources(info, dtypes, left_out):
    """The samples of an OpInfo, by kind and dtype."""
    import torch

    listed = info.supported_dtypes("cpu")
    for name, dtype in dtypes.items():
        seeded(torch)
        keeps_gradients = dtype.is_floating_point or dtype.is_complex
        if dtype in listed:
            yield "reference", name, info.reference_inputs("cpu", dtype, requires_grad=keeps_gradients)
        else:
            yield "unlisted", name, itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), UNLISTED)
    if info.error_inputs_func is not None:
        seeded(torch)
        errors = (error.sample_input for error in info.error_inputs("cpu"))
        yield "error", None, errors


def safely(samples, left_out):
    """The samples until making one raises, as it does for dtypes that an OpInfo does not list."""
    samples = iter(samples)
    while True:
        try:
            yield next(samples)
        except StopIteration:
            return
        except Exception:
            left_out["PyTorch raises while it makes the sample"] += 1
            return


def turned(info, row, sample, kind, left_out):
    """The programs of a sample; none where it cannot be one."""
    from opinfo_calls import OVERLOADS, Unfit, captured
    from opinfo_programs import programs

    made = []
    try:
        call = captured(info, sample)
        if call.row["name"] not in [row, *OVERLOADS.get(row, [])]:
            raise Unfit(f"it calls {call.row['name']}")
        made.extend(programs(call, left_out, gradients=kind == "reference"))
    except Unfit as why:
        left_out[str(why)] += 1
    return made


if __name__ == "__main__":
    main()
