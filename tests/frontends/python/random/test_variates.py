"""Random numbers made of uniform and normal ones: distributions, modes of running, errors."""

import itertools

import numpy as np
import pytest
import tessera
from scipy import stats
from tessera import jit, random

from tests.support.helper import default_device, floats, num_threads, same_bits

COUNT, LEAST = 50_000, 1e-4  # of numbers, and of a test's p-value, which the seed fixes


def continuous(values, law):
    return stats.kstest(values, law.cdf).pvalue


def discrete(values, law, low, high):
    """Pearson's test, the rare values at both ends joined until five of each are expected."""
    expected = law.pmf(np.arange(low, high)) * len(values)
    expected[0] += law.cdf(low - 1) * len(values)
    expected[-1] += law.sf(high - 1) * len(values)
    counted = np.bincount(np.clip(values.astype(int), low, high - 1) - low, minlength=high - low)
    assert expected.min() >= 5
    return stats.chisquare(counted, expected).pvalue


@pytest.mark.parametrize("shape", [0.1, 0.7, 1.0, 3.5, 200.0])
def test_gamma(shape):
    values = random.RNG(seed=3).gamma(shape, 2.0, size=COUNT, dtype="float64").numpy()
    law = stats.gamma(shape, scale=2.0)
    assert continuous(values, law) > LEAST
    assert abs(values.mean() - law.mean()) < 5 * law.std() / COUNT**0.5


@pytest.mark.parametrize(("a", "b"), [(0.2, 0.3), (1.0, 1.0), (2.0, 5.0), (80.0, 3.0)])
def test_beta(a, b):
    values = random.RNG(seed=3).beta(a, b, size=COUNT, dtype="float64").numpy()
    assert continuous(values, stats.beta(a, b)) > LEAST


def test_beta_of_tiny_parameters_is_at_an_end():
    values = random.RNG(seed=3).beta(1e-4, 3e-4, size=4000).numpy()
    assert np.isfinite(values).all() and abs((values > 0.5).mean() - 0.25) < 0.03


@pytest.mark.parametrize("lam", [0.3, 4.0, 9.99, 10.0, 35.0, 900.0])
def test_poisson(lam):
    values, law = random.RNG(seed=3).poisson(lam, size=COUNT).numpy(), stats.poisson(lam)
    low, high = map(int, law.ppf([2e-3, 1 - 2e-3]))
    assert discrete(values, law, low, high) > LEAST


def test_poisson_of_a_large_mean():
    values = random.RNG(seed=3).poisson(1e12, size=COUNT, dtype="float64").numpy()
    assert stats.kstest((values - 1e12) / 1e6, "norm").pvalue > LEAST


def test_bernoulli():
    values = random.RNG(seed=3).bernoulli(0.3, size=COUNT).numpy()
    assert set(values) == {0, 1}
    assert stats.binomtest(int(values.sum()), COUNT, 0.3).pvalue > LEAST


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-3, 4), (5, 105)])
def test_randint(low, high):
    values = random.RNG(seed=3).randint(low, high, size=COUNT).numpy()
    assert discrete(values, stats.randint(low, high), low, high) > LEAST


def test_randint_of_the_widest_range():
    generator = random.RNG(seed=3)
    values = generator.randint(-(2**31), 2**31, size=COUNT).numpy().astype(np.float64)
    assert stats.kstest(values, stats.uniform(-(2.0**31), 2.0**32).cdf).pvalue > LEAST
    wide = generator.randint(2**40, 2**40 + 2**32, size=COUNT, dtype="int64").numpy() - 2**40
    assert wide.min() >= 0 and wide.max() < 2**32
    low = np.bincount(wide % 8, minlength=8)  # the lowest bits are as random
    assert stats.chisquare(low).pvalue > LEAST


def test_multinomial():
    weights, generator = np.array([1.0, 0.0, 4.0, 5.0]), random.RNG(seed=3)
    drawn = generator.multinomial(tessera.Tensor(weights), COUNT, replacement=True).numpy()
    counted = np.bincount(drawn, minlength=4)
    assert counted[1] == 0
    assert stats.chisquare(counted[[0, 2, 3]], COUNT * weights[[0, 2, 3]] / 10).pvalue > LEAST
    rows = tessera.Tensor(np.tile(weights, (COUNT, 1)))
    pairs = generator.multinomial(rows, 2).numpy()
    for first, second in itertools.permutations((0, 2, 3), 2):
        chance = weights[first] / 10 * weights[second] / (10 - weights[first])
        seen = int(((pairs[:, 0] == first) & (pairs[:, 1] == second)).sum())
        assert stats.binomtest(seen, COUNT, chance).pvalue > LEAST
    assert generator.multinomial(tessera.Tensor(weights), 4).tolist()[-1] == 1
    odd = tessera.Tensor([-1.0, 2.0, np.nan])
    assert set(generator.multinomial(odd, 50, replacement=True).tolist()) == {1}
    assert generator.multinomial(odd, 1).tolist() == [1]


def test_choice():
    generator = random.RNG(seed=3)
    counted = np.bincount(generator.choice(7, size=COUNT).numpy())
    assert stats.chisquare(counted).pvalue > LEAST
    orders = [tuple(generator.choice(3, 3, replace=False).tolist()) for _ in range(1200)]
    assert stats.chisquare(np.unique(orders, axis=0, return_counts=True)[1]).pvalue > LEAST
    skewed = generator.choice(3, size=COUNT, p=[0.2, 0.3, 0.5]).numpy()
    assert stats.chisquare(np.bincount(skewed), COUNT * np.array([0.2, 0.3, 0.5])).pvalue > LEAST
    rows = tessera.Tensor(floats(5, 2))
    taken = generator.choice(rows, size=(2, 2), replace=False).numpy()
    assert taken.shape == (2, 2, 2) and len(np.unique(taken.reshape(4, 2), axis=0)) == 4
    assert generator.choice(4).shape == () and generator.choice(4, size=0).shape == (0,)


def draws(generator, p):
    """One of each, with parameters of a tensor where they may have one."""
    return (
        generator.gamma(p, p + 1, size=2),
        generator.beta(p, 2.0, size=(2, 1)),
        generator.poisson(p * 20),
        generator.bernoulli(p / 4, size=3),
        generator.randint(-5, 5, size=4),
        generator.multinomial(p, 3),
        generator.multinomial(p, 9, replacement=True),
        generator.choice(p, 2, replace=False),
        generator.choice(9, size=(2, 2)),
    )


def test_eager_and_traced_calls_go_on_alike():
    p, one, two = tessera.Tensor(floats(5, low=0.1)), random.RNG(seed=5), random.RNG(seed=5)
    traced = jit.trace(lambda p: draws(two, p))
    for _ in range(4):
        assert same_bits(draws(one, p), traced(p))
        assert one.state_dict() == two.state_dict()


def test_the_number_of_threads_changes_nothing():
    rows = []
    for count in (1, 2):
        with num_threads(count):
            p = tessera.Tensor(floats(30_001, low=0.1))
            rows.append(draws(random.RNG(seed=5), p))
    assert same_bits(*rows)


def test_a_file_keeps_its_state_on_every_device(tmp_path):
    path, p = tmp_path / "draws.tess", floats(5, low=0.1)
    random.seed(5)
    want = [draws(random.default_rng, tessera.Tensor(p)) for _ in range(4)]
    random.seed(5)
    call = jit.trace(lambda p: draws(random.default_rng, p), capture_as_const=True)
    assert same_bits(call(tessera.Tensor(p)), want[0])
    call.dump(path, arg_names=["p"], targets=["host", "sim"])
    for device in ("cpu0", "sim0"):
        with default_device(device):
            program = jit.load(path)
            for each in want[1:]:
                assert same_bits(program(tessera.Tensor(p)), each), device


def test_parameters_that_are_no_numbers_of_the_distribution_give_nan():
    bad = tessera.Tensor([-1.0, 0.0, np.inf, np.nan, 2.0])
    assert np.isnan(random.gamma(bad).numpy()).tolist() == [True] * 4 + [False]
    assert np.isnan(random.gamma(2.0, bad).numpy()).tolist() == [True, True, False, True, False]
    assert np.isnan(random.beta(bad, 1.0).numpy()).tolist() == [True] * 4 + [False]
    assert np.isnan(random.poisson(bad).numpy()).tolist() == [True, False, True, True, False]


def test_sizes_and_dtypes():
    assert random.gamma(2.0, size=0).shape == (0,)
    assert random.poisson(tessera.Tensor(np.ones((2, 1), "float32")), size=(3,)).shape == (3, 2, 1)
    assert random.bernoulli(0.5).shape == () and random.bernoulli(0.5).dtype == "float32"
    assert random.RNG(seed=1).bernoulli(0.5, 3, dtype="bool").dtype == "bool"
    assert random.randint(9, size=2).dtype == "int32"
    assert random.randint(9, size=2, dtype="int64").dtype == "int64"


def test_draws_hand_on_no_gradient():
    p = tessera.Tensor(floats(3, low=0.5))
    with tessera.autodiff.GradManager().attach([p]) as manager:
        manager.backward((random.gamma(p) + random.bernoulli(p / 4) + p).sum())
    assert p.grad.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("says", "call"),
    [
        ("gamma: shape must be positive, got -1.0", lambda: random.gamma(-1.0)),
        ("gamma: scale must be positive, got 0", lambda: random.gamma(1.0, 0)),
        ("beta: beta must be positive, got nan", lambda: random.beta(1.0, float("nan"))),
        ("poisson: lam must be at least 0, got -2", lambda: random.poisson(-2)),
        ("normal: std must be at least 0, got -1", lambda: random.normal(0, -1)),
        ("exponential: scale must be at least 0, got -2.0", lambda: random.exponential(-2.0)),
        ("exponential: rate must be positive, got 0", lambda: random.exponential(rate=0)),
        (r"bernoulli: p must be in \[0, 1\], got 1.5", lambda: random.bernoulli(1.5)),
        (r"randint: high - low must be in \[1, 2\^32\], got 3 and 3", lambda: random.randint(3, 3)),
        ("randint: high - low must be", lambda: random.randint(2**32 + 1)),
        ("multinomial: num_samples must be at least 1, at most 2 without replacement, got 3",
         lambda: random.multinomial(tessera.Tensor([1.0, 2.0]), 3)),
        ("multinomial: num_samples must be at least 1, got 0",
         lambda: random.multinomial(tessera.Tensor([1.0, 2.0]), 0, True)),
        ("choice: a must have at least 3 elements, got 2",
         lambda: random.choice(2, 3, replace=False)),
        ("choice: a must have at least 1 elements, got 0", lambda: random.choice(0, 3)),
        (r"choice: p must be at least 0 and somewhere above it, got \[-1, 2\]",
         lambda: random.choice(2, 3, p=[-1, 2])),
        (r"choice: p must be at least 0 and somewhere above it", lambda: random.choice(1, p=[0.0])),
        (r"choice: p must have shape \[2\], got \[3\]", lambda: random.choice(2, 3, p=[1, 1, 1])),
    ],
)  # fmt: skip
def test_what_is_refused(says, call):
    with pytest.raises(ValueError, match="^" + says):
        call()
