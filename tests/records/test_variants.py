"""Every operator at all ranks, with sizes 0 and 1, and on views: rules make them of its samples."""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.dtype import is_lowbit, is_quantize

from tests.records import samples as S  # noqa: N812
from tests.records import variants
from tests.records.test_ops import check_close, expected, visible
from tests.support.helper import same_bits

RECORDS = {name: record for name, record in S.records().items() if record.operands}
every = pytest.mark.parametrize("name", RECORDS)
# Ranks that an operator's operands cannot have, though no constraint has the words, and why.
PARAMETERS = "scale bias running_mean running_var mean var"
WITHOUT = {
    "batch_norm": (PARAMETERS, (0, 1), "parameters have the rank of x"),
    "batch_norm_inference": (PARAMETERS, (0, 1), "parameters have the rank of x"),
    "gather": ("index", (0,), "it has the rank of x"),
    "index_add": ("x", (0,), "there is an axis to index"),
    "index_get": ("x", (0,), "there is an axis to index"),
    "index_set": ("x", (0,), "there is an axis to index"),
    "layer_norm": ("x scale bias", (0,), "at least one axis is normalised"),
    "linear_recurrence": ("weight", (0,), "it has the shape of x"),
    **{
        f"{name}_along_axes": ("x value", (0,), "there is an axis to count along")
        for name in ("add", "max", "min", "set")
    },
    "mask_get": ("x mask", (0,), "mask has at least one axis of x"),
    "rms_norm": ("x scale", (0,), "at least one axis is normalised"),
    "take_along_axes": ("x", (0,), "there is an axis to count along"),
    **{
        name: ("index source", (0,), "they have the rank of x")
        for name in ("scatter", "scatter_add", "scatter_max", "scatter_min")
    },
    "weight_only_linear": ("scale", (3, 4, 5), "there is one for each channel, or group of it"),
}
SCALAR = ("extent", "normal", "uniform")  # their operands have no axes


def check_all(record, found):
    """The oracle's values, eagerly and traced, of every sample that was found."""
    for key, sample in found.items():
        if sample:
            check(record, sample, f"{key}: {sample.shapes} {sample.attrs}")


def check(record, sample, where):
    operands = S.arrays(record, sample, S.primary(record, sample))
    tensors = S.tensors(operands)
    eager = S.call(record, sample, tensors)
    traced = jit.trace(lambda *args: tuple(S.call(record, sample, args)), capture_as_const=True)
    assert same_bits(traced(*tensors), eager), where
    if record.oracle:
        with np.errstate(all="ignore"):
            wanted = expected(record, sample, operands)
        for result, want in zip(visible(record, eager), wanted, strict=True):
            check_close(result, want, where)


@every
def test_ranks(name):
    found = variants.ranks(RECORDS[name])
    check_all(RECORDS[name], found)
    operands, numbers, _ = WITHOUT.get(name, ("", (), ""))
    without = {(operand, rank) for operand in operands.split() for rank in numbers}
    assert {key for key, sample in found.items() if not sample} == without & set(found)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
@every
def test_sizes_0_and_1(name):
    found = variants.edges(RECORDS[name])
    check_all(RECORDS[name], found)
    assert [key for key, sample in found.items() if not sample] == []


def strided(array, dtype):
    """The same values, every second element of a larger tensor, axes reversed."""
    large = np.zeros([2 * n for n in reversed(array.shape)], dtype=array.dtype)
    tensor = tessera.Tensor(large, dtype=dtype)
    index = tuple(slice(None, None, 2) for _ in array.shape)
    tensor[index] = tessera.Tensor(array.transpose(), dtype=dtype)
    return tensor[index].transpose()


def nested(array, dtype):
    """The same values, turned round, a part of a view of a view."""
    large = strided(np.pad(np.flip(array), 1), dtype)
    return large[(slice(1, -1),) * array.ndim][(slice(None, None, -1),) * array.ndim]


def repeated(array, dtype):
    """The first row, at one place for all rows."""
    return F.broadcast_to(tessera.Tensor(array[:1], dtype=dtype), array.shape)


LAYOUTS = (strided, nested, repeated)
# They refuse a matrix whose rows are equal; batches of equal matrices remain.
REGULAR = ("cholesky", "matinv", "solve")


def is_contiguous(tensor):
    if is_quantize(tensor.dtype) or is_lowbit(tensor.dtype):  # which DLPack does not know
        return not tensor.size or not tensor.ndim
    return np.from_dlpack(tensor).flags.c_contiguous


@every
def test_views(name):
    """Equal bits on views and on copies of them; each layout comes with some sample."""
    record, ran = RECORDS[name], set()
    for sample in record.samples:
        operands = S.arrays(record, sample, S.primary(record, sample))
        for layout in LAYOUTS:
            if layout is repeated and name in REGULAR and len(sample.shapes[0]) == 2:
                continue
            views = [layout(a, d) if a.ndim else tessera.Tensor(a, dtype=d) for a, d in operands]
            copies = [tessera.Tensor(v.numpy(), dtype=v.dtype) for v in views]
            assert same_bits(S.call(record, sample, views), S.call(record, sample, copies))
            ran |= set() if all(map(is_contiguous, views)) else {layout}
    assert ran == (set() if name in SCALAR else set(LAYOUTS))
