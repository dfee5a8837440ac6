"""Second and third derivatives of every operator that has a gradient, along random directions.

The n-th directional derivative is the gradient of the one before, contracted with a direction; it
is compared with the central difference of the one before, in float64.
"""

import numpy as np
import pytest
import tessera
from tessera.autodiff.modes import recording

from tests import quick
from tests.records import samples as S  # noqa: N812
from tests.records.test_ops import KINKS, differentiable, every, weights_of

STEP = 1e-5
LARGEST = 120  # elements of the operands


def sample_of(record):
    """The largest sample in float64 that is cheap."""
    fitting = [
        (size, sample)
        for sample in record.samples
        if "float64" in S.dtypes_of(record, sample) and sample.shapes != KINKS.get(record.name)
        if 0 < (size := sum(int(np.prod(shape)) for shape in sample.shapes)) <= LARGEST
    ]
    return max(fitting, key=lambda each: each[0])[1] if fitting else None


class Derivatives:
    """Directional derivatives of one call, of any order."""

    def __init__(self, record, sample):
        self.record, self.sample = record, sample
        self.operands = S.arrays(record, sample, "float64", seed=3)
        random = np.random.RandomState(11)
        self.directions = [
            [random.rand(*a.shape) - 0.5 if d == "float64" else None for a, d in self.operands]
            for _ in range(4)
        ]

    def at(self, order, shift=0.0):
        """The derivative of `order`, at the operands moved by `shift` along the next direction."""
        moved = [
            (a if v is None else a + shift * v, d)
            for (a, d), v in zip(self.operands, self.directions[order], strict=True)
        ]
        return self._of(order, S.tensors(moved)).item()

    def _of(self, order, inputs):
        if order == 0:
            results = differentiable(self.record, S.call(self.record, self.sample, inputs))
            floats = [r for r in results if r.dtype == "float64"]
            return total([r * w for r, w in zip(floats, weights_of(floats), strict=True)])
        with recording(inputs) as state:
            value = self._of(order - 1, inputs)
            grads = state.backward([value], [tessera.Tensor(1.0, dtype="float64")])
        directions = self.directions[order - 1]
        return total([
            g * tessera.Tensor(v, dtype="float64")
            for g, v in zip(grads, directions, strict=True)
            if g is not None and v is not None
        ])  # fmt: skip


def total(tensors):
    result = tessera.Tensor(0.0, dtype="float64")
    for tensor in tensors:
        result = result + tensor.sum()
    return result


@every(lambda record: record.has_gradient and not record.stochastic)
@pytest.mark.parametrize("order", quick.few([2, 3]))
def test_derivative(name, order):
    record = S.records()[name]
    sample = sample_of(record)
    if sample is None:
        pytest.skip("no small sample in float64")
    derivatives = Derivatives(record, sample)
    below = [derivatives.at(order - 1, shift) for shift in (STEP, -STEP)]
    want = (below[0] - below[1]) / (2 * STEP)
    scale = max(1.0, abs(below[0]))
    np.testing.assert_allclose(derivatives.at(order), want, rtol=1e-5, atol=1e-5 * scale)
