"""Every record in a traced function within a GradManager's recording: eager's results and
gradients, bit for bit.
"""

import numpy as np
import pytest
import tessera
from tessera import jit
from tessera.autodiff import GradManager

from tests import quick
from tests.records import samples as S  # noqa: N812
from tests.records.test_ops import every_case
from tests.support.helper import same_bits

RECORDS = S.records()
DATA_SHAPES = ["mask_get", "nms", "non_zero"]  # no program knows their sizes before it runs


def is_float(tensor):
    return tensor.dtype.kind == "f"


def slopes(tensors):
    """A gradient for each result, of different numbers."""
    return [
        tessera.Tensor(np.linspace(0.5, 1.5, t.size).reshape(t.shape), dtype=t.dtype.name)
        for t in tensors
    ]


def results_and_gradients(function, operands):
    """None where there is no gradient."""
    tensors = S.tensors(operands)
    leaves = [tensor for tensor in tensors if is_float(tensor)]
    with GradManager().attach(leaves) as manager:
        results = function(*tensors)
        ys = [y for y in results if is_float(y)]
        manager.backward(ys, slopes(ys))
    return [*results, *(leaf.grad for leaf in leaves)]


def same(ours, theirs):
    return all(
        (a is None and b is None) or (a is not None and b is not None and same_bits(a, b))
        for a, b in zip(ours, theirs, strict=True)
    )


def in_float32(record):
    found = [s for s in record.samples if "float32" in S.dtypes_of(record, s)]
    return [(sample, "float32") for sample in quick.few(found)]


@pytest.mark.filterwarnings("error", "ignore:backward. y must depend on an attached tensor")
@every_case(in_float32, lambda record: record.has_gradient and record.name not in DATA_SHAPES)
def test_traced_gradients_are_eager_s(record, sample, dtype):
    operands = S.arrays(record, sample, dtype)

    def function(*args):
        return tuple(S.call(record, sample, args))

    expected = results_and_gradients(function, operands)
    traced = jit.trace(function)
    for _ in range(3):
        assert same(results_and_gradients(traced, operands), expected)
    assert traced.program() is not None


@pytest.mark.parametrize("name", DATA_SHAPES)
def test_sizes_that_depend_on_data_run_eagerly_and_loudly(name):
    record = RECORDS[name]
    sample = record.samples[0]
    operands = S.arrays(record, sample, "float32")
    traced = jit.trace(lambda *args: tuple(S.call(record, sample, args)))
    with pytest.warns(RuntimeWarning, match="runs eagerly, because a size in it depends on"):
        for _ in range(3):
            tensors = S.tensors(operands)
            with GradManager().attach([each for each in tensors if is_float(each)]):
                assert same(traced(*tensors), S.call(record, sample, tensors))
