"""tessera.random: seeds, distributions, traces."""

import re

import numpy as np
import pytest
import tessera
from scipy import stats
from tessera import jit, random

from tests.support.helper import num_threads


def test_a_seed_gives_the_same_numbers():
    random.seed(7)
    first = [random.uniform(size=(5,)).tolist(), random.normal(size=(5,)).tolist()]
    random.seed(7)
    assert [random.uniform(size=(5,)).tolist(), random.normal(size=(5,)).tolist()] == first
    random.seed(8)
    assert random.uniform(size=(5,)).tolist() != first[0]


def test_draws_differ():
    generator = random.RNG(seed=1)
    a, b = generator.uniform(size=(1000,)).numpy(), generator.uniform(size=(1000,)).numpy()
    assert len(np.intersect1d(a, b)) < 5


def test_generators_are_independent():
    a, b = random.RNG(seed=1), random.RNG(seed=1)
    a.uniform(size=(3,))
    assert a.uniform(size=(3,)).tolist() != b.uniform(size=(3,)).tolist()
    b.load_state_dict(a.state_dict())
    assert a.uniform(size=(3,)).tolist() == b.uniform(size=(3,)).tolist()


@pytest.mark.parametrize("size", [(), (1,), (0, 4), (100_003,), 7])
def test_sizes(size):
    shape = (size,) if isinstance(size, int) else size
    assert tuple(random.uniform(size=size).shape) == shape
    assert random.normal(size=size).dtype == "float32"


def test_uniform_is_uniform():
    values = random.RNG(seed=3).uniform(-2.0, 5.0, size=(200_000,)).numpy()
    assert values.min() >= -2 and values.max() < 5
    assert stats.kstest(values, "uniform", args=(-2, 7)).pvalue > 1e-3


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 2), (100, 101), (-1, 0), (-3, -2), (-2, 2)])
def test_uniform_is_below_its_end(dtype, low, high):
    """Numbers next to the end round to it: 1 of 400 did in bfloat16."""
    values = random.RNG(seed=3).uniform(low, high, size=(500_000,), dtype=dtype)
    values = values.astype("float64").numpy()
    assert low <= values.min() and values.max() < high
    assert (
        values.max() > high - max(abs(high), 1) / 64 and values.min() < low + max(abs(low), 1) / 64
    )


def test_uniform_of_a_range_without_room():
    assert random.uniform(2, 2, size=3).tolist() == [2, 2, 2]
    values = random.uniform(1, 0, size=1000).numpy()
    assert values.min() >= 0 and values.max() > 0.9
    assert (random.RNG(seed=3).exponential(size=100_000, dtype="float16").numpy() < 20).all()


def test_normal_is_normal():
    values = random.RNG(seed=3).normal(1.0, 2.0, size=(200_000,)).numpy()
    assert stats.kstest(values, "norm", args=(1, 2)).pvalue > 1e-3


def test_exponential_is_exponential():
    values = random.RNG(seed=3).exponential(2.0, size=(200_000,)).numpy()
    assert stats.kstest(values, "expon", args=(0, 2)).pvalue > 1e-3
    assert random.exponential(size=()).shape == ()
    by_rate = random.RNG(seed=3).exponential(rate=0.5, size=(200_000,)).numpy()
    np.testing.assert_allclose(by_rate, values, rtol=1e-6)
    with pytest.raises(ValueError, match="scale and rate must not be given together, got 1 and 2"):
        random.exponential(1, rate=2)


def test_permutation_and_shuffle():
    order = random.permutation(100)
    assert order.dtype == "int32" and sorted(order.tolist()) == list(range(100))
    rows = tessera.Tensor(np.arange(20).reshape(10, 2))
    random.shuffle(rows)
    assert sorted(rows.numpy()[:, 0].tolist()) == list(range(0, 20, 2))


def test_a_trace_goes_on_drawing():
    @jit.trace
    def draw(x):
        return x + random.uniform(size=(4,))

    x = tessera.Tensor(np.zeros(4, dtype=np.float32))
    random.seed(2)
    traced = [draw(x).tolist() for _ in range(4)]
    random.seed(2)
    assert traced == [draw.function(x).tolist() for _ in range(4)]
    assert len({tuple(row) for row in traced}) == 4


def test_thread_count_changes_nothing():
    rows = []
    for count in (1, 2):
        with num_threads(count):
            rows.append(random.RNG(seed=5).normal(size=(300_001,)).numpy().tobytes())
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("value", "error", "says"),
    [
        ([1, 2, 3], TypeError, "must be an int, got [1, 2, 3]"),
        (np.array([1, 2]), TypeError, "must be an int, got array([1, 2])"),
        (1.5, TypeError, "must be an int, got 1.5"),
        (2**63, ValueError, f"must have at most 64 bits, got {2**63}"),
    ],
)
def test_what_is_no_seed_changes_nothing(value, error, says):
    random.seed(7)
    before = random.default_rng.state_dict()
    with pytest.raises(error, match="^seed: seed " + re.escape(says)):
        random.seed(value)
    with pytest.raises(error, match="^RNG: seed " + re.escape(says)):
        random.RNG(seed=value)
    for state in ({"seed": value, "offset": 0}, {"seed": 0, "offset": value}):
        with pytest.raises(error, match="^load_state_dict: (seed|offset) " + re.escape(says)):
            random.default_rng.load_state_dict(state)
    assert random.default_rng.state_dict() == before


def test_seeds_are_not_negative_but_for_those_of_older_files():
    before = random.default_rng.state_dict()
    with pytest.raises(ValueError, match="^seed: seed must be at least 0, got -1$"):
        random.seed(-1)
    with pytest.raises(ValueError, match="^RNG: seed must be at least 0, got -1$"):
        random.RNG(seed=-1)
    assert random.default_rng.state_dict() == before
    generator = random.RNG(seed=0)
    generator.load_state_dict({"seed": -1, "offset": 2})
    assert generator.state_dict() == {"seed": -1, "offset": 2}
