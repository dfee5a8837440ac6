"""Every labelled constraint of every record refuses the call that breaks it, with its own words."""

import re

import numpy as np
import pytest
import tessera

from tests.records import samples as S  # noqa: N812
from tests.records.refusals.refusals import REFUSALS, SAYS, UNREACHED

CONSTRAINTS = S.constraints()


def test_every_label_has_a_refusal():
    known = set(REFUSALS) | set(UNREACHED)
    assert sorted(set(CONSTRAINTS) - known) == [] and sorted(known - set(CONSTRAINTS)) == []


def operands(record, shapes, dtypes):
    sizes = [tuple(int(n) for n in text.split(",") if n) for text in shapes]
    sample = S.Sample(sizes, {}, [0.0] * len(sizes), [2.0] * len(sizes), [])
    pairs = S.arrays(record, sample, next((d for d in S.dtypes_of(record, sample)), None))
    if dtypes:
        pairs = [(np.ones(size), dtype) for size, dtype in zip(sizes, dtypes, strict=True)]
    return S.tensors(pairs)


def pattern(text):
    """The words of a constraint, with values in between; "an axis" is said as a range."""
    text = re.sub("must be an axis of .*", r"must be in [", text)
    words = ".*".join(map(re.escape, re.sub("distinct axes of .*", "", text).split()))
    return words + (r" (in \[|distinct)" if "distinct" in text else "")


@pytest.mark.parametrize("label", [each for each in REFUSALS if each in CONSTRAINTS])
def test_refusal(label):
    name, text = CONSTRAINTS[label]
    shapes, attrs, *dtypes = REFUSALS[label]
    record = S.records()[name]
    sample = S.Sample([], S.attributes(attrs), [], [], [])
    with pytest.raises((ValueError, IndexError)) as caught:
        S.call(record, sample, operands(record, shapes, *dtypes or [None]))
    message = str(caught.value)
    assert message.startswith(f"{name}: ") and ", got " in message
    assert re.search(SAYS.get(text, pattern(text)), message), f"{text!r} in {message!r}"
    assert (tessera.Tensor([1.0]) + 1).item() == 2
