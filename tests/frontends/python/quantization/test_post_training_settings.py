"""quantize_model: settings that help, dynamic scales, and reports."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.dtype import get_scale
from tessera.quantization import DynamicLinear, PostTrainingConfig, quantize_model

from tests.frontends.python.quantization import formulas
from tests.frontends.python.quantization.quantizing import CONFIGS, numbers, ratio
from tests.support.helper import bits


def test_layers_that_stay_float():
    """A channel that is much larger than the others between two layers costs nothing there."""
    model, x = M.Sequential(M.Linear(8, 8), M.Linear(8, 8), M.Linear(8, 4)), numbers(64, 8)
    model[0].weight[0] *= 1000
    model[1].weight[:, 0] /= 1000
    quantized, report = quantize_model(model, [x])
    config = PostTrainingConfig(keep_float=["0", "1"])
    better, rest = quantize_model(model, [x], config)
    assert rest.kept_float == (("0", "keep_float"), ("1", "keep_float"))
    assert ratio(model(x), better(x)) > max(30, ratio(model(x), quantized(x)) + 20)
    assert isinstance(getattr(better, "1"), M.Linear) and len(report.layers) == 3


@pytest.mark.parametrize("kind", ["conv", "depthwise", "transposed", "linear"])
def test_equalized_channels(kind):
    """Channels of very different ranges lose little once their ranges are moved."""
    layers = {
        "conv": (M.Conv2d(3, 6, 3), M.Conv2d(6, 4, 3, groups=2)),
        "depthwise": (M.Conv2d(3, 6, 3), M.Conv2d(6, 6, 3, groups=6)),
        "transposed": (M.ConvTranspose2d(4, 6, 3, groups=2), M.ConvTranspose2d(6, 4, 3, groups=2)),
        "linear": (M.Linear(5, 6), M.Linear(6, 4)),
    }
    first, second = layers[kind]
    x = numbers(*((32, 5) if kind == "linear" else (4, 4 if kind == "transposed" else 3, 8, 8)))
    model = M.Sequential(first, M.ReLU(), second)
    factors = np.float32(10.0) ** np.arange(-3, 3)
    spread = {"transposed": (2, 1, 3, 1, 1), "linear": (6, 1)}.get(kind, (6, 1, 1, 1))
    first.weight._reset(first.weight * ts.tensor(factors.reshape(spread)))
    back = {"conv": (2, 1, 3, 1, 1), "depthwise": (6, 1, 1, 1, 1), "transposed": (2, 3, 1, 1, 1),
            "linear": (1, 6)}[kind]  # fmt: skip
    second.weight._reset(second.weight / ts.tensor(factors.reshape(back)))
    plain, equal = (quantize_model(model, [x], PostTrainingConfig(per_channel=False, equalize=each))
                    for each in (False, True))  # fmt: skip
    assert ratio(model(x), equal[0](x)) > max(25, ratio(model(x), plain[0](x)) + 10)


def test_corrected_biases():
    """Errors of a weight that do not cancel, as inputs are above 0, go into the bias."""
    model, x = M.Sequential(M.Linear(64, 4)), numbers(256, 64)
    x = F.abs(x) + 1
    model[0].weight[:, 0] = 30.0  # others are few steps of the scale
    errors = []
    for correct in (False, True):
        config = PostTrainingConfig(correct_bias=correct)
        quantized, report = quantize_model(model, [x], config)
        errors.append(np.abs((quantized(x) - model(x)).mean(0).numpy()).max())
    assert errors[1] < errors[0] / 3 and report.layers[0].sqnr > 30


def test_dynamic_scales_are_those_of_the_call():
    """Integers follow the largest number of each call: other samples change nothing."""
    model, x = M.Sequential(M.Linear(6, 3)), numbers(4, 6)
    quantized = [quantize_model(model, [x * size], CONFIGS["dynamic"])[0] for size in (1, 1000)]
    assert bits([quantized[0](x)]) == bits([quantized[1](x)])
    assert ratio(model(x * 1000), quantized[0](x * 1000)) > 35
    layer = next(each for each in quantized[0].modules() if isinstance(each, DynamicLinear))
    scale = np.abs(x.numpy()).max() / np.float32(127)
    sums = formulas.away(x.numpy() / scale) @ layer.weight.numpy().T
    scales = np.float32(get_scale(layer.weight.dtype)) * scale
    wanted = np.float32(sums) * scales + model[0].bias.numpy()
    assert np.array_equal(quantized[0](x).numpy(), wanted)
    assert np.array_equal(layer(x[0]).numpy(), layer(x[:1])[0].numpy())
    assert layer(x * 0).tolist() == [model[0].bias.tolist()] * 4


def test_biases_that_the_weight_is_small_for():
    """A channel of weights near 0 keeps its bias."""
    model, x = M.Sequential(M.Linear(3, 2)), numbers(8, 3)
    model[0].weight[0] = 1e-30
    model[0].bias[...] = 5.0
    quantized, _ = quantize_model(model, [x])
    assert np.abs(quantized(x).numpy() - model(x).numpy()).max() < 0.1


# Reports.


def test_reports():
    model, x = M.Sequential(M.Linear(6, 5), M.ReLU(), M.Linear(5, 3)), numbers(16, 6)
    quantized, report = quantize_model(model, [x])
    assert report.layers[1].sqnr == pytest.approx(ratio(model(x), quantized(x)))
    assert report.layers[0].sqnr == report.layers[0].own_sqnr  # it reads the input itself
    costs = [each.own_sqnr for each in report.costliest()]
    assert costs == sorted(costs) and len(report.costliest(1)) == 1
    lines = str(report).splitlines()
    assert lines[0].split() == ["layer", "kind", "SQNR", "(dB)", "own", "SQNR", "(dB)", "scale"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "2"] and repr(report) == str(report)
    assert report.svg.startswith("<svg") and report.svg.count("<rect") == 2 + 2 * 2
    assert report.svg in report.html and report._repr_html_() == report.svg


def test_layers_without_noise():
    """Results that are exact have no noise, and a picture, too."""
    model = M.Sequential(M.Linear(1, 1, bias=False))
    model[0].weight[...] = 127.0
    _, report = quantize_model(model, [ts.tensor([[127.5], [0.0]]) * 0])
    assert report.layers[0].sqnr == np.inf and "<rect" in report.svg
