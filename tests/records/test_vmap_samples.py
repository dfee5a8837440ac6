"""vmap of every record's samples, and of their gradients, beside the loop: each operand mapped
alone, and all together.
"""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.autodiff import vmap
from tessera.autodiff.modes import recording

from tests import quick
from tests.records import samples as S  # noqa: N812
from tests.support.helper import TOLERANCE, bits, same_bits

COUNT = 3  # as many as some samples have of an axis, which a wrong rule would mix up


def from_libraries():
    """How many results libraries have computed, which round otherwise for another shape."""
    return tessera.cache_stats()["results_of_libraries"]


def cases():
    for record in S.records().values():
        for number, sample in enumerate(quick.few(record.samples)):
            if sample.shapes:
                yield pytest.param(record, sample, id=f"{record.name} {number}")


def masks(count):
    """Which operands are mapped."""
    alone = [tuple(i == j for j in range(count)) for i in range(count)] if count > 1 else []
    return [*alone, (True,) * count]


@pytest.mark.parametrize(("record", "sample"), cases())
def test_samples(record, sample):
    dtype = S.primary(record, sample)
    elements = [S.tensors(S.arrays(record, sample, dtype, seed)) for seed in range(COUNT)]
    for mask in masks(len(sample.shapes)):
        rows = [
            [
                each if mapped else one
                for each, one, mapped in zip(row, elements[0], mask, strict=True)
            ]
            for row in elements
        ]
        check(lambda *operands: S.call(record, sample, operands), mask, rows)


def with_gradients():
    for case in cases():
        record, sample = case.values
        if record.has_gradient and not record.stochastic and "float32" in S.dtypes_of(*case.values):
            yield case


@pytest.mark.parametrize(("record", "sample"), with_gradients())
def test_gradients_of_samples(record, sample):
    rows = [S.tensors(S.arrays(record, sample, "float32", seed)) for seed in range(COUNT)]

    def gradients(*operands):
        floats = [each for each in operands if each.dtype == "float32"]
        with recording(floats) as state:
            results = [r for r in S.call(record, sample, operands) if r.dtype.name in S.FLOATS]
            grads = state.backward(results, [F.cos(r) for r in results])
        return [F.zeros_like(x) if g is None else g for x, g in zip(floats, grads, strict=True)]

    check(gradients, (True,) * len(sample.shapes), rows)


def check(function, mask, rows):
    try:
        each = [function(*row) for row in rows]
    except (ValueError, IndexError):
        pytest.skip("the operands of other seeds do not fit")
    if len({tuple(tuple(r.shape) for r in results) for results in each}) != 1:
        pytest.skip("data decides the shapes")
    wanted = [F.stack(list(column)) for column in zip(*each, strict=True)]
    columns = [
        F.stack(list(column)) if mapped else column[0]
        for column, mapped in zip(zip(*rows, strict=True), mask, strict=True)
    ]
    axes = tuple(0 if mapped else None for mapped in mask)
    before = from_libraries()
    got = vmap(function, in_axes=axes)(*columns)
    compare(got, wanted, from_libraries() == before)


def compare(got, wanted, is_exact):
    if is_exact:
        assert same_bits(got, wanted)
        return
    for one, other in zip(bits(got), bits(wanted), strict=True):
        assert one[:2] == other[:2]
    for one, other in zip(got, wanted, strict=True):
        limit = 10 * TOLERANCE.get(one.dtype.name, 0)
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=limit, atol=limit)
