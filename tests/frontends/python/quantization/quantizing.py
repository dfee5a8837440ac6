"""Settings of quantize_model, numbers, and how close results are."""

import numpy as np
import tessera as ts
from tessera.quantization import PostTrainingConfig

from tests.frontends.python.quantization.formulas import floats

CONFIGS = {
    "defaults": PostTrainingConfig(),
    "zero points": PostTrainingConfig(activation_dtype="quint8", method="entropy"),
    "corrected": PostTrainingConfig(method="mse", correct_bias=True),
    "equalized": PostTrainingConfig(method="percentile", per_channel=False, equalize=True),
    "dynamic": PostTrainingConfig(mode="dynamic"),
}


def numbers(*shape, seed=0):
    return ts.tensor(floats(*shape, seed=seed))


def ratio(wanted, found):
    """Signal to noise in decibels."""
    wanted, found = wanted.numpy().astype(np.float64), found.numpy()
    with np.errstate(divide="ignore"):
        return 10 * np.log10((wanted**2).sum() / ((wanted - found) ** 2).sum())
