"""The recorded calls of one family: each is PyTorch's but for what differences.toml lists."""

import os

import pytest

from tests.opinfo import differences, runs, table

FAMILY = os.environ["TESS_FAMILY"]
READER = runs.recorded(FAMILY)


@pytest.mark.parametrize("op", table.rows(FAMILY))
def test_calls(op):
    found, examples = runs.survey(READER, FAMILY, op)
    listed = differences.listed(op)
    wrong = {what for what in {*found, *listed} if found[what] != listed.get(what, 0)}
    lines = [
        f"{what}: {found[what]} calls instead of {listed.get(what, 0)}\n  {examples.get(what, '')}"
        for what in sorted(wrong)
    ]
    assert not wrong, "\n".join(lines)
