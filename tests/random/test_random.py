"""A hundred random programs: every mode gives the bits of the eager run."""

import os
import warnings
from dataclasses import replace

import pytest

from tests.random import minimise, worker
from tests.random.draw import draw
from tests.random.program import Statement

FIRST = int(os.environ.get("TESS_RANDOM_SEED", "0"))


@pytest.mark.parametrize("seed", range(FIRST, FIRST + 100))
def test_program(seed):
    warnings.simplefilter("ignore")
    row = worker.run(seed)
    for mode, shown in row["findings"].items():
        program, smaller = minimise.minimised(draw(seed), mode, seconds=30)
        print(minimise.source(program, mode, smaller or shown))
    assert not row["findings"], f"seed {seed}"


def test_a_difference_is_found_and_made_small():
    """A program that counts its calls does something else at each: the traced mode must see it."""
    program = draw(1)
    spoiled = replace(program, statements=(
        *program.statements,
        Statement("w = F.relu(a0) + float(np.random.RandomState().rand())", ("w",), ("a0",)),
    ), results=("w", *program.results))  # fmt: skip
    smaller, shown = minimise.minimised(spoiled, "traced", seconds=60)
    assert "traced" in shown
    assert len(smaller.statements) < len(program.statements)
