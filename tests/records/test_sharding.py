"""The sharding table: inputs split along each symbol that may be, run in parts, put together."""

import os

import numpy as np
import pytest
from tessera import _core

from tests.records import samples as S  # noqa: N812
from tests.support.helper import bits

RULES = {row["name"]: row["sharding"] for row in _core.op_table() if row["sharding"]}
PART, PARTS = (int(number) for number in os.environ.get("TESS_PART", "0/1").split("/"))


class Axes:
    """Where symbols stand in one operand or result of a sample."""

    def __init__(self, pattern, attrs, rank):
        plain, guard, guarded = pattern
        self.names = guarded if guard and attrs.get(guard) else plain
        self.rank = rank
        stars = [i for i, name in enumerate(self.names) if name and name.startswith("*")]
        self.star = stars[0] if stars else len(self.names)

    def of(self, symbol, number):
        """The axis of a symbol; of a star symbol the one `number` from its end. None: no such."""
        if "*" + symbol in self.names:
            last = self.rank - (len(self.names) - self.star)
            return last - number if last - number >= self.star else None
        if symbol not in self.names:
            return None
        place = self.names.index(symbol)
        return place if place < self.star else place - len(self.names) + self.rank

    def count(self, symbol):
        """Axes that the symbol stands for."""
        if "*" + symbol in self.names:
            return self.rank - len(self.names) + 1
        return int(symbol in self.names)


def operand_axes(record, sample, rule):
    names = [each.name for each in record.operands]
    return [
        Axes(rule["operands"][names.index(operand.name)], sample.attrs, len(shape))
        for operand, shape in zip(S.groups(record, sample), sample.shapes, strict=True)
    ]


def cut(array, axis, size):
    """Two parts along an axis; twice the whole where there is no such axis or it is broadcast."""
    if axis is None or array.shape[axis] != size:
        return array, array
    return np.split(array, [(size + 1) // 2], axis)


def splits(record, sample, rule, operands):
    """(symbol, number, operands of the first part, operands of the second)."""
    axes = operand_axes(record, sample, rule)
    whole = rule["whole"] and sample.attrs[rule["whole"]] % axes[0].rank
    for symbol in rule["split"] + rule["partial"]:
        for number in range(max((each.count(symbol) for each in axes), default=0)):
            places = [each.of(symbol, number) for each in axes]
            if whole in places[:1]:
                continue
            sizes = [
                a.shape[p] for (a, _), p in zip(operands, places, strict=True) if p is not None
            ]
            if min(sizes) == 0 or max(sizes) < 2:
                continue
            halves = [cut(a, p, max(sizes)) for (a, _), p in zip(operands, places, strict=True)]
            parts = [
                [(half[i], dtype) for half, (_, dtype) in zip(halves, operands, strict=True)]
                for i in (0, 1)
            ]
            yield symbol, number, parts


def run(record, sample, operands):
    return [each.numpy() for each in S.call(record, sample, S.tensors(operands))]


def roundings(record, operands):
    """What reordering sums of products may change: an element's terms are bounded by one of |x||y|,
    each of at most K terms is rounded once when multiplied and once when added.
    """
    if record.name not in ("matmul", "linear") or operands[0][1] not in S.FLOATS:
        return 0.0  # generated code and integers: nothing may change
    largest = [float(np.abs(a).max(initial=0)) for a, _ in operands]
    terms = max(max(a.shape, default=1) for a, _ in operands) + 1
    epsilon = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
    return epsilon[operands[0][1]] * terms * 2 * terms * largest[0] * largest[1]


def compare(got, want, limit, where):
    assert got.shape == want.shape and got.dtype == want.dtype, where
    if limit:
        np.testing.assert_allclose(
            got.astype(np.float64), want.astype(np.float64), rtol=0, atol=limit, err_msg=where
        )
    else:
        assert bits(got) == bits(want), where


def check(record, sample, rule, operands):
    """Every split of one call; how many there were."""
    whole, count = run(record, sample, operands), 0
    for symbol, number, parts in splits(record, sample, rule, operands):
        first, second = (run(record, sample, part) for part in parts)
        where = f"{symbol} (axis {number} from its end) of {sample.shapes} {sample.attrs}"
        limit, count = roundings(record, operands), count + 1
        for result, pattern in enumerate(rule["results"]):
            want = whole[result]
            axis = Axes(pattern, sample.attrs, want.ndim).of(symbol, number)
            if symbol in rule["partial"]:
                assert axis is None, where
                joined = first[result] + second[result]
            else:
                joined = np.concatenate([first[result], second[result]], axis)
            compare(joined, want, limit, where)
    return count


@pytest.mark.parametrize("name", sorted(RULES)[PART::PARTS])
def test_parts_make_the_whole(name):
    record, rule = S.records()[name], RULES[name]
    count = 0
    for sample in record.samples:
        dtypes = S.dtypes_of(record, sample)
        primary = next((d for d in ("float32", "int32") if d in dtypes), dtypes[0])
        for dtype in dtypes if rule["partial"] else [primary]:
            count += check(record, sample, rule, S.arrays(record, sample, dtype))
    assert count, "no sample can be split"


def test_the_table_has_the_rules_that_matter():
    assert set(RULES["matmul"]["split"]) == {"B", "M", "N"} and RULES["matmul"]["partial"] == ["K"]
    assert RULES["linear"]["partial"] == []  # each part would add the bias
    assert RULES["add"]["split"] == ["D"]
    assert "softmax" not in RULES  # rows belong together
    assert RULES["cumsum"]["whole"] == "axis" and RULES["add"]["whole"] is None
    assert not {"dropout", "uniform", "one_hot_like"} & set(RULES)  # places count


def test_a_wrong_rule_is_seen():
    """A sum of parts is no concatenation, a softmax of parts is no softmax."""
    record, sample = S.records()["matmul"], S.Sample([(2, 4), (4, 3)], {}, [0] * 2, [1] * 2, [])
    rule = {**RULES["matmul"], "split": [], "partial": ["M"]}
    with pytest.raises(AssertionError):
        check(record, sample, rule, S.arrays(record, sample, "float32"))
    record, sample = S.records()["softmax"], S.Sample([(4, 6)], {}, [0], [1], [])
    rows = (["*D"], None, [])
    rule = {"split": ["D"], "partial": [], "whole": None, "operands": [rows], "results": [rows]}
    with pytest.raises(AssertionError):
        check(record, sample, rule, S.arrays(record, sample, "float32"))
