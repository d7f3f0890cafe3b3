"""The loop that one would write without broadcheck: shapes from Hypothesis, ten operations on NumPy and on PyTorch.

    python3 hypothesis_loop.py SECONDS

prints how many cases it did, in how many seconds, and the versions of what it used, as JSON. A case is one operation on
one pair of shapes, half of which broadcast; both libraries have to return the same shape and elements, or both raise.
"""

import json
import sys
import time

import hypothesis
import numpy
import torch
from hypothesis import HealthCheck, Phase, given, settings, strategies
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes

OPERATIONS = [
    (numpy.add, torch.add),
    (numpy.subtract, torch.sub),
    (numpy.multiply, torch.mul),
    (numpy.divide, torch.div),
    (numpy.maximum, torch.maximum),
    (numpy.minimum, torch.minimum),
    (numpy.equal, torch.eq),
    (numpy.less, torch.lt),
    (numpy.greater_equal, torch.ge),
    (numpy.arctan2, torch.atan2),
]

PAIRS = strategies.one_of(
    mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=1, max_side=4).map(lambda found: found.input_shapes),
    strategies.tuples(array_shapes(max_dims=4, max_side=4), array_shapes(max_dims=4, max_side=4)),
)


def outcome(call, *operands):
    try:
        return call(*operands)
    except (ValueError, RuntimeError):
        return None


def main():
    limit = float(sys.argv[1])
    torch.set_num_threads(1)
    cases = 0
    begun = time.perf_counter()

    @settings(max_examples=10**9, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(pair=PAIRS, operation=strategies.sampled_from(OPERATIONS))
    def compare(pair, operation):
        nonlocal cases
        if time.perf_counter() - begun > limit:
            raise TimeoutError
        x, y = (numpy.arange(1, 1 + numpy.prod(shape, dtype=int), dtype=numpy.float32).reshape(shape) for shape in pair)
        wanted = outcome(operation[0], x, y)
        observed = outcome(operation[1], torch.from_numpy(x), torch.from_numpy(y))
        assert (wanted is None) == (observed is None)
        if wanted is not None:
            numpy.testing.assert_allclose(observed.numpy(), wanted, rtol=1e-6)
        cases += 1

    try:
        compare()
    except TimeoutError:
        pass
    seconds = time.perf_counter() - begun
    versions = {"Hypothesis": hypothesis.__version__, "NumPy": numpy.__version__, "PyTorch": torch.__version__}
    print(json.dumps({"cases": cases, "seconds": seconds, "versions": versions}))


if __name__ == "__main__":
    main()
