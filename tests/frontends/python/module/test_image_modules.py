"""Modules that change images as training data are."""

import cv2
import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812

from tests.support.helper import assert_close, floats

IMAGE = np.random.RandomState(0).randint(0, 256, (2, 3, 6, 7)).astype(np.uint8)


def filtered(image, kernel):
    rows = np.float32(image).transpose(1, 2, 0)
    return cv2.filter2D(rows, -1, np.float32(kernel), borderType=cv2.BORDER_REFLECT_101)


@pytest.mark.parametrize(
    ("module", "kernel"),
    [
        (M.Emboss(0.25, 0.5), [[-0.375, -0.125, 0], [-0.125, 1, 0.125], [0, 0.125, 0.375]]),
        (M.Sharpen(0.5, 1.5), [[-0.5, -0.5, -0.5], [-0.5, 5.25, -0.5], [-0.5, -0.5, -0.5]]),
    ],
)
def test_filters_give_opencvs_pixels(module, kernel):
    got = module(tessera.Tensor(IMAGE)).numpy()
    wanted = np.clip(np.rint(filtered(IMAGE[1], kernel)), 0, 255).astype(np.uint8)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got[1].transpose(1, 2, 0), wanted)
    floating = module(tessera.Tensor(np.float32(IMAGE))).numpy()[1].transpose(1, 2, 0)
    assert_close(floating, filtered(IMAGE[1], kernel), 1e-4, 1e-3)


def test_contrast_turns_around_the_middle():
    doubled = M.LinearContrast(2)(tessera.Tensor(IMAGE)).numpy()
    wanted = np.clip(127 + 2.0 * (IMAGE.astype(int) - 127), 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(doubled, wanted)
    ratio = M.LinearContrast((0.5, 2.0), per_channel=True, seed=1)(np.ones((2, 3, 4, 4))).numpy()
    assert np.unique(ratio).size == 6 and (ratio.std((2, 3)) == 0).all()
    assert ((ratio >= 0.5) & (ratio < 2)).all()


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize(
    ("kind", "arguments", "mean", "variance"),
    [
        (M.AdditiveGaussianNoise, (1.0, 2.0), 1.0, 4.0),
        (M.AdditiveLaplaceNoise, (1.0, 2.0), 1.0, 8.0),
        (M.AdditivePoissonNoise, (3.0,), 3.0, 3.0),
    ],
)
def test_noise_has_its_moments(kind, arguments, mean, variance, per_channel):
    x = floats(2, 3, 128, 128)
    noise = kind(*arguments, per_channel, seed=7)(tessera.Tensor(x)).numpy() - x
    assert abs(noise.mean() - mean) < 0.1 and abs(noise.var() / variance - 1) < 0.1
    same = np.allclose(noise[:, 0], noise[:, 1], atol=1e-5)
    assert same != per_channel
    again = kind(*arguments, per_channel, seed=7)(tessera.Tensor(x)).numpy() - x
    np.testing.assert_array_equal(noise, again)


def test_parameters_are_numbers_or_pairs():
    for value in (True, "much", (1.0, 2.0, 3.0)):
        with pytest.raises(TypeError, match="LinearContrast: alpha must be a number or a tuple of"):
            M.LinearContrast(value)(tessera.Tensor(IMAGE))


@pytest.mark.parametrize(("kind", "method"), [("AdditiveElemwise", "sample"),
                                              ("ActiveBlur", "get_kernel")])  # fmt: skip
def test_bases_ask_for_what_they_lack(kind, method):
    with pytest.raises(NotImplementedError, match=f"{kind}: {method} must be given, got none"):
        getattr(M, kind)()(tessera.Tensor(IMAGE))
