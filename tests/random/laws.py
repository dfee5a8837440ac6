"""Lines of `tessera.distributions`, and the laws of SciPy that they are compared with."""

from types import SimpleNamespace

import numpy as np
from scipy import stats

_POSITIVE = "(abs({g}) + 0.5)"
_CHANCE = "(0.1 + 0.8 / (1 + abs({g})))"
_MADE = {
    "Normal": f"D.Normal({{f}}, {_POSITIVE})",
    "Uniform": f"D.Uniform({{f}}, {{f}} + {_POSITIVE})",
    "Exponential": f"D.Exponential({_POSITIVE})",
    "Gamma": f"D.Gamma(abs({{f}}) + 0.5, {_POSITIVE})",
    "Beta": f"D.Beta(abs({{f}}) + 0.5, {_POSITIVE})",
    "Bernoulli": f"D.Bernoulli({_CHANCE})",
}
_NOT_OF_ALL = {"log_prob": ("Normal", "Uniform", "Exponential", "Gamma", "Beta"),
               "cdf": ("Normal", "Uniform", "Exponential", "Bernoulli"),
               "icdf": ("Uniform", "Exponential"),
               "rsample": ("Normal", "Uniform", "Exponential", "Gamma", "Beta")}  # fmt: skip
# What has a result to compare; a value outside of the support has the density 0.
_EXACT = {
    "log_prob": ".log_prob({f} * 0.75)", "entropy": ".entropy()", "mean": ".mean",
    "variance": ".variance", "stddev": ".stddev", "cdf": ".cdf({f})", "icdf": f".icdf({_CHANCE})",
}  # fmt: skip
_DRAWN = {"sample": ".sample()", "samples": ".sample((2,))[1]", "rsample": ".rsample(3)[0]"}


def _forms(methods):
    return [made + text for name, made in _MADE.items() for method, text in methods.items()
            if name in _NOT_OF_ALL.get(method, _MADE)]  # fmt: skip


COMPARED = [*_forms(_EXACT), "D.Bernoulli(logits={f}).entropy()",
            f"{_MADE['Bernoulli']}.log_prob(1.0)", f"{_MADE['Bernoulli']}.log_prob(0.0)",
            "D.Bernoulli(logits={f}).log_prob(1.0)",
            "D.Bernoulli(logits={f}).log_prob(0.0)"]  # fmt: skip
# SciPy has no distribution of indices along an axis.
OTHERS = [*_forms(_DRAWN), "D.Bernoulli(logits={f}).sample()", "D.Categorical(logits={f}).sample()",
          "D.Categorical(logits={f}).entropy()", "D.Categorical(abs({f}) + 0.5).log_prob(0)",
          "D.Categorical(logits={f}).log_prob(D.Categorical(abs({f}) + 0.1).sample())",
          "D.Categorical(abs({f}) + 0.5).sample((2, 3))[1, 2]"]  # fmt: skip


class Law:
    """A law of SciPy with the methods of a Distribution."""

    def __init__(self, law, log_prob):
        self.log_prob, self.cdf, self.icdf = log_prob, law.cdf, law.ppf
        self.mean, self.variance, self.stddev = law.mean(), law.var(), law.std()
        self.entropy = law.entropy


def _bernoulli(probs=None, logits=None):
    if probs is not None:
        law = stats.bernoulli(probs)
        return Law(law, law.logpmf)
    law = stats.bernoulli(1 / (1 + np.exp(-logits)))  # whose logarithms lose digits
    return Law(law, lambda x: -np.logaddexp(0, (1 - 2 * x) * logits))


def _continuous(law):
    return Law(law, law.logpdf)


LAWS = SimpleNamespace(
    Normal=lambda loc, scale: _continuous(stats.norm(loc, scale)),
    Uniform=lambda low, high: _continuous(stats.uniform(low, high - low)),
    Exponential=lambda rate: _continuous(stats.expon(scale=1 / rate)),
    Gamma=lambda a, rate: _continuous(stats.gamma(a, scale=1 / rate)),
    Beta=lambda a, b: _continuous(stats.beta(a, b)),
    Bernoulli=_bernoulli,
)
