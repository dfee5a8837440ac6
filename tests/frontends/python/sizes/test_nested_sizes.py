"""Sizes within sizes: the time of a trace grows with the number of slices and concatenations.

Each level once doubled the text of a size, so ten levels took minutes. The limit is the test's.
"""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera.jit import Dim, load, trace

LEVELS = 40


def rotated(x):
    """Halves that change places, again and again."""
    for _ in range(LEVELS):
        half = x.shape[0] // 2
        x = F.concat([x[half:], x[:half] * 2])
    return x


def multiplied(x):
    """Halves that are multiplied; what an odd size leaves over is kept."""
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        x = F.concat([x[:half] * x[half : 2 * half], x[2 * half :]])
    return x


def thinned(x):
    """Sizes that no rule makes simpler."""
    for i in range(LEVELS):
        third = x[:: 3 + i % 2]
        x = F.concat([x[third.shape[0] :], third * 2, x[: third.shape[0] // 2]])[:40]
    return x


FUNCTIONS = rotated, multiplied, thinned


def values(size):
    return tessera.tensor(np.random.RandomState(size).uniform(0.5, 1.5, size).astype(np.float32))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_programs_of_nested_sizes(function):
    traced = trace(function)
    for size in (64, 64, 129, 129, 64, 7, 1, 129):
        x = values(size)
        assert traced(x).tolist() == function(x).tolist()


def test_a_file_of_nested_sizes_takes_other_sizes(tmp_path):
    traced = trace(rotated, capture_as_const=True)
    traced(values(64))
    traced.dump(tmp_path / "p", arg_names=["x"], dims={"x": {0: Dim("n", 1, 999)}})
    loaded = load(tmp_path / "p")
    for size in (64, 129, 2, 1):
        x = values(size)
        assert loaded(x).tolist() == rotated(x).tolist()
