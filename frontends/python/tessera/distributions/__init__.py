"""Probability distributions: samples, densities and moments, with gradients in their parameters."""

from .._listed import listed as _listed
from .continuous import Beta, Exponential, Gamma, Normal, Uniform
from .discrete import Bernoulli, Categorical
from .distribution import Distribution

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Distribution",
    "Exponential",
    "Gamma",
    "Normal",
    "Uniform",
]

__dir__ = _listed(*__all__)
