"""QAT modules: what they are made of, what they observe and round, batch norm that is folded."""

from functools import partial

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera.module import qat
from tessera.quantization import (
    FakeQuantize,
    MinMaxObserver,
    QConfig,
    QuantMode,
    min_max_fakequant_qconfig,
    quantize_qat,
)

from tests.frontends.python.quantization.networks import LAYERS, numbers
from tests.support.helper import same_bits

WITHOUT = {"Elemwise", "Concat", "QuantStub", "DequantStub"}  # a weight


def _made(kind, layer, qconfig=min_max_fakequant_qconfig):
    made = kind.from_float_module(layer)
    made.set_qconfig(qconfig)
    return made


@pytest.mark.parametrize("name", [name for name in qat.__all__ if name != "QATModule"])
def test_every_qat_module_is_its_float_module(name):
    kind, of_floats = getattr(qat, name), getattr(M, name)
    assert issubclass(kind, of_floats) and issubclass(kind, qat.QATModule)
    assert kind.with_weight == (name not in WITHOUT)
    assert kind.with_act == (name != "DequantStub")


@pytest.mark.parametrize("name", LAYERS)
def test_a_qat_module_shares_what_the_float_module_has(name):
    make, *shapes = LAYERS[name]
    layer = make(name="a") if make is not M.Concat else M.Concat(name="a")
    layer.eval()
    made = getattr(qat, name.split()[0]).from_float_module(layer)
    assert type(made).__name__ == name.split()[0] and made.name == "a" and not made.training
    own, others = dict(made.named_tensors()), dict(layer.named_tensors())
    assert own.keys() == others.keys() and all(own[key] is others[key] for key in own)
    operands = [numbers(*shape, seed=3) for shape in shapes]
    operands = [operands] if name == "Concat" else operands
    np.testing.assert_allclose(made(*operands).numpy(), layer(*operands).numpy(), atol=2e-6)


def test_the_rooms_are_parts_of_module():
    assert M.qat is qat and M.quantized.Conv2d.__module__ == "tessera.module.quantized.conv"
    with pytest.raises(AttributeError, match="module: name must be that of a part, got 'qa'"):
        _ = M.qa


def test_a_qat_module_is_made_of_its_own_float_module():
    with pytest.raises(TypeError, match="float_module must be a Conv2d, got a Linear"):
        qat.Conv2d.from_float_module(M.Linear(2, 2))
    with pytest.raises(TypeError, match="float_module must be a ConvRelu2d, got a Conv2d"):
        qat.ConvRelu2d.from_float_module(M.Conv2d(2, 2, 1))


def test_a_configuration_makes_parts_for_what_is_there():
    linear = _made(qat.Linear, M.Linear(4, 2))
    parts = "weight_observer", "act_observer", "weight_fake_quant", "act_fake_quant"
    assert [type(getattr(linear, part)) for part in parts] == [MinMaxObserver] * 2 + [
        FakeQuantize
    ] * 2
    add = _made(qat.Elemwise, M.Elemwise("add"))
    assert add.weight_observer is add.weight_fake_quant is None
    assert isinstance(add.act_observer, MinMaxObserver)
    stub = _made(qat.DequantStub, M.DequantStub())
    assert stub.act_observer is stub.act_fake_quant is stub.get_activation_dtype() is None
    linear.set_qconfig(QConfig(None, None, None, None))
    assert linear.get_weight_qparams() is linear.get_weight_dtype() is None
    assert repr(linear) == "QAT.Linear(in_features=4, out_features=2, bias=True)"


def test_switches_reach_both_parts():
    layer = _made(qat.Linear, M.Linear(4, 2))
    for switch, kind in ((layer.set_observer, "observer"), (layer.set_fake_quant, "fake_quant")):
        for enable in (False, True):
            switch(enable)
            assert all(getattr(layer, f"{of}_{kind}").enabled is enable for of in ("act", "weight"))
    add = _made(qat.Elemwise, M.Elemwise("add"))
    add.set_observer(False)
    assert not add.act_observer.enabled


def test_what_is_rounded_says_its_scale():
    layer, x = _made(qat.Linear, M.Linear(4, 2)), numbers(3, 4)
    y = layer(x)
    found = layer.get_activation_qparams()
    assert y.qparams.scale.item() == found.scale.item() and y.qparams.dtype_meta == "qint8"
    assert tessera.dtype.get_scale(layer.get_activation_dtype()) == pytest.approx(
        found.scale.item()
    )
    weight = layer.apply_quant_weight(layer.weight)
    scale = layer.get_weight_qparams().scale.item()
    steps = weight.numpy() / np.float32(scale)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-4)
    layer.set_fake_quant(False)
    assert layer(x).qparams.scale is None and layer.weight.qparams.scale is None
    assert layer.apply_quant_weight(layer.weight) is layer.weight


def test_a_bias_of_a_module_of_ones_own_is_rounded():
    layer = _made(qat.Linear, M.Linear(4, 2))
    layer.bias[:] = tessera.tensor([0.123, -0.456])
    x = _made(qat.QuantStub, M.QuantStub())(numbers(3, 4))
    weight = layer.apply_quant_weight(layer.weight)
    rounded = layer.apply_quant_bias(layer.bias, x, weight)
    scale = x.qparams.scale.item() * weight.qparams.scale.item()
    np.testing.assert_allclose(rounded.numpy(), layer.bias.numpy(), atol=scale)
    assert not same_bits(rounded, layer.bias)
    layer.act_fake_quant.disable()
    assert layer.apply_quant_bias(layer.bias, x, weight) is layer.bias


# Batch norm.

FOLDED = {
    "ConvBn2d": (partial(M.ConvBn2d, 3, 4, 3), (4, 3, 6, 6)),
    "ConvBnRelu2d": (partial(M.ConvBnRelu2d, 3, 6, 3, groups=3, bias=False), (4, 3, 6, 6)),
    "ConvTransposeBn2d": (partial(M.ConvTransposeBn2d, 3, 6, 3, groups=3), (4, 3, 5, 5)),
    "LinearBn1d": (partial(M.LinearBn1d, 5, 3), (8, 5)),
}


def _two(name):
    """The float layer and the QAT module of a copy, with numbers in every tensor."""
    make, shape = FOLDED[name]
    layers = [make(), make()]
    for layer in layers:
        for number, (path, tensor) in enumerate(layer.named_tensors()):
            random = numbers(*tensor.shape, seed=number)
            tensor._reset(1 + 0.1 * random if path.startswith("bn.") else random)
    made = _made(getattr(qat, name), layers[1])
    return layers[0], made, [numbers(*shape, seed=seed) for seed in range(3)]


@pytest.mark.parametrize("name", FOLDED)
def test_running_statistics_are_those_of_the_layer_itself(name):
    layer, made, batches = _two(name)
    made.set_fake_quant(False)
    for x in batches:
        np.testing.assert_allclose(made(x).numpy(), layer(x).numpy(), rtol=1e-4, atol=1e-4)
    for each in ("running_mean", "running_var"):
        got, want = getattr(made.bn, each).numpy(), getattr(layer.bn, each).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-4)
    x = batches[0]
    np.testing.assert_allclose(
        made.eval()(x).numpy(), layer.eval()(x).numpy(), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("name", FOLDED)
def test_statistics_do_not_drift_while_weights_are_rounded(name):
    layer, made, batches = _two(name)
    for _ in range(30):
        for x in batches:
            made(x), layer(x)
    got, want = made.bn.running_var.numpy(), layer.bn.running_var.numpy()
    np.testing.assert_allclose(got, want, rtol=0.03)


def test_folded_weights_have_the_formula():
    _, made, _ = _two("ConvBn2d")
    made.set_fake_quant(False)
    norm, conv = made.bn, made.conv
    weight, bias = made.fold_weight_bias(norm.running_mean, norm.running_var)
    factor = norm.weight / F.sqrt(norm.running_var + norm.eps)
    np.testing.assert_allclose(
        weight.numpy(), (conv.weight * factor.reshape(-1, 1, 1, 1)).numpy(), rtol=1e-6
    )
    want = norm.bias + (conv.bias - norm.running_mean) * factor
    np.testing.assert_allclose(bias.numpy(), want.numpy(), rtol=1e-5)


def test_a_channel_without_weight_stays_finite():
    layer, made, batches = _two("ConvBn2d")
    for each in (layer, made):
        each.bn.weight[0, 1] = 0.0
    out = made(batches[0])
    assert np.isfinite(out.numpy()).all()
    np.testing.assert_allclose(out.numpy()[:, 1], layer(batches[0]).numpy()[:, 1], atol=0.01)


def test_a_batch_norm_must_have_running_statistics():
    made = _made(qat.ConvBn2d, M.ConvBn2d(3, 4, 3, track_running_stats=False))
    with pytest.raises(ValueError, match="ConvBn2d: the batch norm must have running statistics"):
        made(numbers(2, 3, 5, 5))


# Refusals.


def _with_weight(**settings):
    return QConfig(
        partial(MinMaxObserver, **settings),
        min_max_fakequant_qconfig.act_observer,
        partial(FakeQuantize, dtype=settings["dtype"]),
        min_max_fakequant_qconfig.act_fake_quant,
    )


def test_weights_that_no_sum_of_integers_has():
    net = M.Sequential(M.QuantStub(), M.Linear(4, 2))
    quantize_qat(net, qconfig=_with_weight(dtype="quint8", mode=QuantMode.ASYMMERTIC))
    with pytest.raises(ValueError, match="Linear: the weight must have no zero point, got quint8"):
        net(numbers(3, 4))
    net = M.Sequential(M.QuantStub(), M.Linear(4, 2))
    quantize_qat(net, qconfig=_with_weight(dtype="qint8", axis=1))
    message = r"Linear: the weight must have one scale or .*, \(2, 1\), got \(1, 4\)"
    with pytest.raises(ValueError, match=message):
        net(numbers(3, 4))
    net = M.Sequential(M.QuantStub(), M.BatchMatMulActivation(2, 3, 4))
    quantize_qat(net, qconfig=_with_weight(dtype="qint8", axis=0))
    with pytest.raises(ValueError, match="BatchMatMulActivation: the weight must have one scale"):
        net(numbers(2, 3, 4))
