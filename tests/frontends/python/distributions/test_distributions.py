"""tessera.distributions, beside SciPy."""

import re

import numpy as np
import pytest
import tessera
from scipy import special, stats
from tessera import distributions as D  # noqa: N812
from tessera import jit
from tessera.autodiff import grad
from tessera.distributions._implicit import LogGamma

from tests.support.helper import assert_close, numeric_gradient, same_bits

A, B = np.array([0.4, 1.0, 3.5]), np.array([[0.7], [2.0]])
# How each is made, its SciPy law, and values of which some are outside of the support.
LAWS = {
    "normal": (D.Normal, lambda a, b: stats.norm(a, b), np.array([-2.0, 0.4, 3.0])),
    "uniform": (lambda a, b: D.Uniform(a, a + b), lambda a, b: stats.uniform(a, b),
                np.array([-1.0, 0.5, 4.0])),
    "exponential": (lambda a, b: D.Exponential(a * b), lambda a, b: stats.expon(scale=1 / (a * b)),
                    np.array([-1.0, 0.5, 4.0])),
    "gamma": (D.Gamma, lambda a, b: stats.gamma(a, scale=1 / b), np.array([-1.0, 0.5, 4.0])),
    "beta": (D.Beta, lambda a, b: stats.beta(a, b), np.array([-1.0, 0.5, 0.9])),
}  # fmt: skip


def wide(array):
    return tessera.Tensor(array, dtype="float64")


@pytest.mark.parametrize("name", LAWS)
def test_densities_and_moments(name):
    make, law, values = LAWS[name]
    own, theirs = make(wide(A), wide(B)), law(A, B)
    assert own.batch_shape == (2, 3)
    assert_close(own.log_prob(wide(values)), theirs.logpdf(values), 1e-9, 1e-12)
    for what, expected in (("mean", "mean"), ("variance", "var"), ("stddev", "std")):
        assert_close(getattr(own, what), np.broadcast_to(getattr(theirs, expected)(), (2, 3)), 1e-9)
    entropy = own.entropy()
    assert_close(entropy + own.mean * 0, np.broadcast_to(theirs.entropy(), (2, 3)), 1e-9, 1e-9)


@pytest.mark.parametrize("name", ["normal", "uniform", "exponential"])
def test_cumulative_distributions(name):
    make, law, values = LAWS[name]
    own, theirs, chances = make(wide(A), wide(B)), law(A, B), np.array([0.1, 0.5, 0.9])
    assert_close(own.cdf(wide(values)), theirs.cdf(values), 1e-9, 1e-12)
    if name != "normal":
        assert_close(own.icdf(wide(chances)), theirs.ppf(chances), 1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_samples(name):
    make, law, _ = LAWS[name]
    tessera.seed(3)
    drawn = make(wide(A), wide(B)).sample((20_000,))
    assert drawn.shape == (20_000, 2, 3) and drawn.dtype == "float64"
    for i, j in np.ndindex(2, 3):
        assert stats.kstest(drawn.numpy()[:, i, j], law(A[j], B[i, 0]).cdf).pvalue > 1e-4


@pytest.mark.parametrize("name", LAWS)
def test_gradients_of_log_prob(name):
    make, law, values = LAWS[name]
    inside = np.full((2, 3), 0.8)
    a, b = np.broadcast_to(A[1:], (2, 2)).copy() * 0.2, np.broadcast_to(B, (2, 2)).copy()
    got = grad(lambda a, b: make(a, b).log_prob(wide(inside[:, 1:])).sum(), (0, 1))(
        wide(a), wide(b)
    )
    for number, each in enumerate(got):
        want = numeric_gradient(lambda a, b: law(a, b).logpdf(inside[:, 1:]).sum(), [a, b], number)
        assert_close(each, want, 1e-5, 1e-6)


def test_gradients_of_samples():
    """d sample / d parameter, where a sample is a formula of its parameters."""
    loc, scale = wide(np.array(1.0)), wide(np.array(2.0))

    def total(make):
        def call(a, b):
            tessera.seed(7)
            return make(a, b).rsample(5).sum()

        return [each.item() for each in grad(call, (0, 1))(loc, scale)]

    def numbers(law):
        tessera.seed(7)
        return law.sample(5).numpy()

    normal = (numbers(D.Normal(loc, scale)) - 1) / 2
    np.testing.assert_allclose(total(D.Normal), [5, normal.sum()])
    uniform = (numbers(D.Uniform(loc, scale)) - 1) / 1
    np.testing.assert_allclose(total(D.Uniform), [(1 - uniform).sum(), uniform.sum()])
    rates = -numbers(D.Exponential(scale)).sum() / 2
    np.testing.assert_allclose(total(lambda a, b: D.Exponential(b + a * 0))[1], rates)


@pytest.mark.parametrize("a", [1e-3, 0.1, 0.7, 1.0, 3.0, 40.0, 3000.0])
def test_gradients_of_samples_by_the_concentration(a):
    """The number of the same probability moves so: differences of SciPy's inverse functions."""
    tessera.seed(11)
    concentration = wide(np.full(50, a))
    drawn = D.Gamma(concentration, wide(np.ones(50))).sample().numpy()
    tessera.seed(11)
    log_drawn = LogGamma()(concentration).numpy()
    np.testing.assert_allclose(np.exp(log_drawn), drawn, 1e-12)

    def logs(a):
        tessera.seed(11)
        return LogGamma()(a).sum()

    got = grad(logs)(concentration).numpy()
    step, known = 1e-4 * a, drawn > 1e-200
    by_p = special.gammaincinv([[a - step], [a + step]], special.gammainc(a, drawn))
    by_q = special.gammainccinv([[a - step], [a + step]], special.gammaincc(a, drawn))
    low, high = np.where(drawn < a, by_p, by_q)
    want = (np.log(high[known]) - np.log(low[known])) / (2 * step)
    np.testing.assert_allclose(got[known], want, 2e-5)


def test_gradients_of_gamma_and_beta():
    """By the parameters of a mean over many samples: of a / r, and of a / (a + b)."""
    a, b = wide(np.array(1.7)), wide(np.array(2.5))

    def mean(make):
        def call(a, b):
            tessera.seed(5)
            return make(a, b).rsample(20_000).mean()

        return [each.item() for each in grad(call, (0, 1))(a, b)]

    for make, want in (
        (D.Gamma, [1 / 2.5, -1.7 / 2.5**2]),
        (D.Beta, [2.5 / 4.2**2, -1.7 / 4.2**2]),
    ):
        np.testing.assert_allclose(mean(make), want, 0.03)
        tessera.seed(6)
        law, want = make(a, b), make(a, b).sample(7)
        tessera.seed(6)
        assert same_bits(law.rsample(7), want)


def test_bernoulli():
    p, x = np.array([0.0, 0.3, 1.0]), np.array([[0.0], [1.0], [0.5]])
    own, law = D.Bernoulli(wide(p)), stats.bernoulli(p)
    with np.errstate(divide="ignore"):
        expected = np.log([1 - p, p, p * 0])
    assert_close(own.log_prob(wide(x)), expected, 1e-9)
    assert_close(own.entropy(), law.entropy(), 1e-9, 1e-12)
    assert_close(own.mean, p)
    assert_close(own.variance, law.var())
    assert_close(own.cdf(wide(x - 0.5)), law.cdf(x - 0.5))
    logits = D.Bernoulli(logits=wide(np.log(p[1:2] / (1 - p[1:2]))))
    assert_close(logits.log_prob(wide(np.ones(1))), np.log(p[1:2]), 1e-9)
    assert abs(own.sample(4000).numpy().mean(0) - p).max() < 0.05


def test_bernoulli_of_large_logits_keeps_the_digits_of_the_rarer_result():
    rare = np.exp(np.array([-20.0, -40.0]))  # p(1 - p) and p(1 - log p) for such p, to 1e-8
    for sign in (1.0, -1.0):
        own = D.Bernoulli(logits=wide(sign * np.log(rare)))
        assert_close(own.variance, rare, 1e-8)
        assert_close(own.entropy(), rare * (1 - np.log(rare)), 1e-8)


def test_categorical():
    weights = np.array([[1.0, 2.0, 1.0], [0.0, 1.0, 3.0]])
    chances = weights / weights.sum(1, keepdims=True)
    own = D.Categorical(wide(weights))
    assert own.batch_shape == (2,) and own.sample().shape == (2,) and own.sample(0).shape == (0, 2)
    drawn = own.sample((100, 50)).numpy().reshape(-1, 2)
    for column in range(2):
        counted = np.bincount(drawn[:, column], minlength=3) / len(drawn)
        assert abs(counted - chances[column]).max() < 0.03
    value = tessera.Tensor([[1], [2]], dtype="int32")
    assert_close(own.log_prob(value), np.log(chances[:, 1:].T), 1e-9)
    assert_close(own.entropy(), stats.entropy(chances, axis=1), 1e-9)
    logits = D.Categorical(logits=wide(np.log(weights[0]) + 3))
    assert_close(logits.probs, chances[0], 1e-9)


def test_traced_calls_give_the_same_numbers():
    p = tessera.Tensor([0.5, 2.0])

    def call(p):
        laws = D.Normal(0.0, p), D.Gamma(p, 2.0), D.Beta(p, p), D.Bernoulli(logits=p)
        samples = [law.sample(3) for law in (*laws, D.Categorical(p))]
        return (*samples, *(law.log_prob(x) for law, x in zip(laws, samples, strict=False)))

    tessera.seed(5)
    want = [call(p) for _ in range(3)]
    tessera.seed(5)
    traced = jit.trace(call)
    assert all(same_bits(traced(p), each) for each in want)


@pytest.mark.parametrize(
    ("error", "says", "call"),
    [
        (ValueError, "Normal: scale must be positive, got -1.0", lambda: D.Normal(0.0, -1.0)),
        (ValueError, "Normal: loc must be finite, got inf", lambda: D.Normal(np.inf, 1.0)),
        (ValueError, "Uniform: high must be above low, got 2.0", lambda: D.Uniform(2.0, 1.0)),
        (ValueError, "Exponential: rate must be positive", lambda: D.Exponential([1.0, 0.0])),
        (ValueError, "Gamma: concentration must be positive", lambda: D.Gamma(0.0, 1.0)),
        (ValueError, "Beta: concentration0 must be positive", lambda: D.Beta(1.0, -1.0)),
        (ValueError, "Bernoulli: probs must be in [0, 1], got 2.0", lambda: D.Bernoulli(2.0)),
        (ValueError, "Bernoulli: one of probs and logits must be given, got neither", D.Bernoulli),
        (ValueError, "Categorical: one of probs and logits must be given, got both",
         lambda: D.Categorical([1.0], [1.0])),
        (ValueError, "Categorical: probs must be at least 0", lambda: D.Categorical([-1.0])),
        (ValueError, "Categorical: logits must have an axis", lambda: D.Categorical(logits=1.0)),
        (NotImplementedError, "Bernoulli: rsample must be one of its methods, got",
         lambda: D.Bernoulli(0.5).rsample()),
        (NotImplementedError, "Categorical: mean must be", lambda: D.Categorical([1.0]).mean),
    ],
)  # fmt: skip
def test_what_is_refused(error, says, call):
    with pytest.raises(error, match="^" + re.escape(says)):
        call()
