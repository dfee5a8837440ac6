"""Quantized networks: those of the zoo, and one that has learned to read digits."""

import pytest
import tessera as ts
from tessera.quantization import PostTrainingConfig, quantize_model
from tessera.traced_module.pytree import leaves_of

from tests.frontends.python.traced_module import zoo
from tests.quick import few

CONFIGS = {
    "defaults": PostTrainingConfig(),
    "percentile": PostTrainingConfig(method="percentile"),
    "entropy": PostTrainingConfig(method="entropy"),
    "mse": PostTrainingConfig(method="mse", correct_bias=True),
    "zero points": PostTrainingConfig(activation_dtype="quint8"),
    "equalized": PostTrainingConfig(per_channel=False, equalize=True),
    "dynamic": PostTrainingConfig(mode="dynamic"),
}
DRAWING = ("examples/vae", "programs/random_numbers")  # other numbers at each call


@pytest.mark.parametrize("name", few(zoo.ALL, 6))
@pytest.mark.parametrize("config", ["defaults", "dynamic"])
def test_modules_of_the_zoo(name, config):
    """Shapes and dtypes are those of the float model; layers by themselves are close."""
    ts.seed(0)
    module, args = zoo.ALL[name]()
    quantized, report = quantize_model(module.eval(), [tuple(args)], CONFIGS[config])
    for found, wanted in zip(leaves_of(quantized(*args)), leaves_of(module(*args)), strict=True):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert name in DRAWING or all(each.own_sqnr > 10 for each in report.layers)


@pytest.fixture(scope="module")
def digits():
    """(trained network, samples, function that counts wrong answers for held-out digits)."""
    example = zoo._example("digits_net")
    train, (images, labels) = example.load_digits()
    model = example.Training(train, 0, 8, True).run().model.eval()

    def wrong(net):
        return int((net(ts.tensor(images)).numpy().argmax(1) != labels).sum())

    return model, [train[0][start : start + 64] for start in range(0, 512, 64)], wrong


@pytest.mark.parametrize("name", CONFIGS)
def test_digits_are_read_as_before(digits, name):
    """At most 2 more of 360 are wrong."""
    model, samples, wrong = digits
    assert wrong(model) < 15
    quantized, report = quantize_model(model, samples, CONFIGS[name])
    assert wrong(quantized) <= wrong(model) + 2
    assert len(report.layers) == (2 if name == "dynamic" else 4)
    assert all(each.sqnr > 25 for each in report.layers)
