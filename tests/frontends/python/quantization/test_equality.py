"""The heart of quantization: QAT modules and quantized modules give the same numbers, bit for bit,
wherever they run.
"""

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
from tessera import jit
from tessera.autodiff import GradManager
from tessera.module import qat
from tessera.optimizer import SGD
from tessera.quantization import quantize, quantize_qat

from tests.frontends.python.quantization.networks import (
    LAYERS,
    OF_CHANNELS,
    QCONFIGS,
    WITH_CHANNELS,
    Small,
    begin_steps,
    between,
    numbers,
)
from tests.support.helper import same_bits


def _trained(name, qconfig):
    """A network of one layer that has seen its operands, in inference mode."""
    net, operands = between(name)
    net = quantize_qat(net, qconfig=qconfig).train()
    begin_steps(net)
    for _ in range(2):
        net(*[each * 1.1 for each in operands])
    return net.eval(), operands


def _check_equal(net, operands):
    """The QAT network and the quantized one, eager and traced."""
    want = net(*operands)
    assert len(np.unique(want.numpy())) > 3
    quantized = quantize(net, inplace=False)
    assert same_bits(quantized(*operands), want)
    for each in (net, quantized):
        traced = jit.trace(each)
        assert all(same_bits(traced(*operands), want) for _ in range(2))


@pytest.mark.parametrize("qconfig", QCONFIGS)
@pytest.mark.parametrize("name", LAYERS)
def test_quantized_layers_give_what_qat_gives(name, qconfig):
    _check_equal(*_trained(name, QCONFIGS[qconfig]))


@pytest.mark.parametrize("name", WITH_CHANNELS)
def test_weights_may_have_a_scale_for_each_channel(name):
    net, operands = _trained(name, OF_CHANNELS)
    _check_equal(net, operands)
    dtype = quantize(net).layer.weight.dtype
    assert len(tessera.dtype.get_scale(dtype)) > 1


def _train(qconfig, is_traced=False):
    """(network, losses) of some steps of training."""
    net = quantize_qat(Small(), qconfig=qconfig).train()
    for number, parameter in enumerate(net.parameters()):
        if parameter.ndim:  # not a trained step
            parameter._reset(numbers(*parameter.shape, seed=number) * 0.3)
    begin_steps(net)
    gm, optimizer = GradManager().attach(net.parameters()), SGD(net.parameters(), lr=0.05)

    def step(x, labels):
        with gm:
            loss = F.nn.cross_entropy(net(x), labels)
            gm.backward(loss)
        optimizer.step().clear_grad()
        return loss

    step = jit.trace(step) if is_traced else step
    x, labels = numbers(4, 3, 8, 8), tessera.tensor([0, 1, 2, 3])
    return net, [step(x, labels).item() for _ in range(5)]


def test_a_trained_network_is_the_same_everywhere(tmp_path):
    net, losses = _train(QCONFIGS["moving averages"])
    assert losses[-1] < losses[0]
    x = numbers(4, 3, 8, 8, seed=4)
    want = net.eval()(x)
    quantized = quantize(net)
    assert same_bits(quantized(x), want)
    traced = jit.trace(quantized, capture_as_const=True)
    assert same_bits(traced(x), want) and same_bits(traced(x), want)
    traced.dump(tmp_path / "net.tess")
    assert same_bits(jit.load(tmp_path / "net.tess")(x), want)


@pytest.mark.parametrize("qconfig", QCONFIGS)
def test_traced_training_is_training(qconfig):
    (net, losses), (other, others) = (_train(QCONFIGS[qconfig], each) for each in (False, True))
    assert losses == others
    pairs = zip(net.named_tensors(), other.named_tensors(), strict=True)
    assert all(a == b and same_bits(x, y) for (a, x), (b, y) in pairs)


# Training.


def _gradients(layer, x):
    """Gradients of x and of the parameters, for a random one of the result."""
    parameters = [x, *layer.parameters()]
    gm = GradManager().attach(parameters)
    with gm:
        y = layer(x)
        gm.backward((y * numbers(*y.shape, seed=9)).sum())
    return [each.grad for each in parameters]


class _OnGrid(M.Module):
    """An input on the grid of its stub, through a layer."""

    def __init__(self, layer, stub):
        super().__init__()
        self.layer, self._stub = layer, [stub]

    def forward(self, x):
        return self.layer(self._stub[0](x))


@pytest.mark.parametrize("name", ["Conv2d", "Conv2d same", "ConvTranspose2d", "Linear"])
def test_gradients_of_sums_are_those_of_floats_at_the_operands(name):
    net, operands = _trained(name, QCONFIGS["zero points"])
    x, layer = operands[0], net.layer
    layer.act_fake_quant.disable()
    got = _gradients(_OnGrid(layer, net.quant), x)
    rounded = layer.apply_quant_weight(layer.weight).detach()
    make, _ = LAYERS[name]
    of_floats = make()
    of_floats.weight, of_floats.bias = tessera.Parameter(rounded), layer.bias
    want = _gradients(_OnGrid(of_floats, net.quant), x)
    assert len(got) == len(want) == 3
    for each, other in zip(got, want, strict=True):
        assert np.any(each.numpy()) and each.shape == other.shape
        np.testing.assert_allclose(each.numpy(), other.numpy(), rtol=2e-5, atol=2e-5)


def test_sums_of_operands_on_no_grid_are_those_of_floats():
    net, operands = _trained("Conv2d", QCONFIGS["min and max"])
    layer, floats = net.layer, LAYERS["Conv2d"][0]()
    layer.set_fake_quant(False)
    floats.weight, floats.bias = layer.weight, layer.bias
    assert same_bits(layer(net.quant(operands[0])), floats(net.quant(operands[0])))
    layer.set_fake_quant(True)
    x = operands[0]  # without a scale
    weight = layer.apply_quant_weight(layer.weight)
    assert same_bits(layer.calc_conv_qat(x), floats.calc_conv(x, weight, layer.bias))
    assert isinstance(layer, qat.QATModule)
