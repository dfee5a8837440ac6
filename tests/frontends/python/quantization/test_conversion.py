"""Networks converted from floats to simulated quantization and to integers: which modules change,
what is refused, and that nothing changes then.
"""

import copy
from functools import partial

import numpy as np
import pytest
import tessera.module as M  # noqa: N812
from tessera import Tensor, jit
from tessera.module import qat, quantized
from tessera.quantization import (
    LSQ,
    TQT,
    FakeQuantize,
    MinMaxObserver,
    PassiveObserver,
    QConfig,
    calibration_qconfig,
    disable_fake_quant,
    disable_observer,
    ema_fakequant_qconfig,
    enable_fake_quant,
    enable_observer,
    min_max_fakequant_qconfig,
    passive_qconfig,
    propagate_qconfig,
    quantize,
    quantize_qat,
    reset_qconfig,
    tqt_qconfig,
)
from tessera.quantization.quantize import _get_quantable_module_names, hook_qat_module

from tests.frontends.python.quantization import formulas
from tests.frontends.python.quantization.formulas import floats
from tests.support.helper import same_bits

X = floats(4, 3)
CHANNELS = QConfig(
    partial(MinMaxObserver, dtype="qint8_narrow", axis=0),
    partial(MinMaxObserver, dtype="qint8"),
    partial(FakeQuantize, dtype="qint8_narrow"),
    partial(FakeQuantize, dtype="qint8"),
)
LEARNT = QConfig(None, None, partial(LSQ, dtype="qint8_narrow"), partial(LSQ, dtype="qint8"))


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.quant = M.QuantStub()
        self.layers = [M.Linear(3, 3), {"last": M.Linear(3, 2)}]
        self.dequant = M.DequantStub()

    def forward(self, x):
        first, rest = self.layers
        return self.dequant(rest["last"](first(self.quant(x))))


def trained(qconfig=min_max_fakequant_qconfig):
    """A QAT network that saw data."""
    net = quantize_qat(Net(), qconfig=qconfig)
    net(Tensor(X))
    return net


def kinds(net):
    return [type(each) for each in net.children()]


def shape_of(net):
    """Names and classes of all modules, and identities of all tensors."""
    return ([(name, type(each)) for name, each in net.named_modules()],
            [(name, id(each)) for name, each in net.named_tensors()])  # fmt: skip


def test_classes_are_found_by_name():
    """Each quantized class has a QAT class and a float one of its name; there are no others."""
    names = _get_quantable_module_names()
    own = [each for each in vars(qat).values() if isinstance(each, type)
           and issubclass(each, qat.QATModule) and each is not qat.QATModule]  # fmt: skip
    assert {each.__name__ for each in own} == set(names) >= {"Linear", "QuantStub", "DequantStub"}
    for name in names:
        assert issubclass(getattr(M, name), M.Module)
        assert issubclass(getattr(quantized, name), quantized.QuantizedModule)


@pytest.mark.parametrize("inplace", [True, False])
def test_networks_are_converted(inplace):
    """Both steps reach lists and dicts, in place or in a copy."""
    net = Net()
    before = shape_of(net)
    trained_net = quantize_qat(net, inplace=inplace)
    assert (trained_net is net) == inplace and (inplace or shape_of(net) == before)
    assert kinds(trained_net) == [qat.DequantStub, qat.Linear, qat.Linear, qat.QuantStub]
    trained_net(Tensor(X))
    before = shape_of(trained_net)
    final = quantize(trained_net, inplace=inplace)
    assert (final is trained_net) == inplace and (inplace or shape_of(trained_net) == before)
    assert kinds(final) == [
        quantized.DequantStub, quantized.Linear, quantized.Linear, quantized.QuantStub
    ]  # fmt: skip


def test_a_root_is_converted():
    """A network that is one layer itself: the result is converted."""
    net = quantize_qat(M.Linear(3, 2))
    assert type(net) is qat.Linear and isinstance(net.weight_observer, MinMaxObserver)
    with pytest.raises(RuntimeError, match="quantize: weight_observer, act_observer observed"):
        quantize(net)


def test_shared_layers_stay_shared():
    """A layer that stands in two places is converted in both, into one."""
    layer = M.Linear(3, 3)
    net = quantize_qat(M.Sequential(layer, M.ReLU(), layer))
    assert type(net[0]) is qat.Linear and net[0] is net[2]
    ring = M.Sequential(M.Sequential(M.Linear(3, 3)))
    ring[0].around = ring
    quantize_qat(ring)
    assert type(ring[0][0]) is qat.Linear and ring[0].around is ring


def test_disabled_modules_stay():
    """Modules with quantize_disabled stay in float."""
    net = Net()
    net.layers[0].disable_quantize()
    quantize_qat(net)
    assert type(net.layers[0]) is M.Linear and type(net.layers[1]["last"]) is qat.Linear
    whole = quantize_qat(Net().disable_quantize())
    assert kinds(whole) == kinds(Net())


def test_further_classes():
    """`mapping` converts classes of a user, before those of the package."""

    class Scaled(M.Linear):
        pass

    class QATScaled(qat.Linear):
        pass

    class FinalScaled(M.Module):
        @classmethod
        def from_qat_module(cls, _):
            return cls()

    net = M.Sequential(Scaled(3, 2), M.Linear(2, 2))
    quantize_qat(net, mapping={Scaled: QATScaled})
    assert kinds(net) == [QATScaled, qat.Linear]
    net(Tensor(X))
    quantize(net, mapping={QATScaled: FinalScaled})
    assert kinds(net) == [FinalScaled, quantized.Linear]


def test_subclasses_stay_and_are_told():
    """A subclass has no counterpart: it stays, and a warning names it."""

    class Own(M.Linear):
        pass

    net = M.Sequential(Own(3, 2), M.Linear(2, 2))
    with formulas.logged() as lines:
        quantize_qat(net)
        quantize_qat(net)
    assert kinds(net) == [Own, qat.Linear]
    assert lines[0] == lines[1] and lines[0].endswith(
        "stay as they are (mapping gives one): 0 (Own)"
    )


def test_failures_change_nothing():
    """Where a layer cannot be converted the others are as they were."""

    class Failing:
        @staticmethod
        def from_float_module(_):
            raise ValueError("failing")

    net = M.Sequential(M.Linear(3, 2), M.ReLU())
    before = shape_of(net)
    with pytest.raises(ValueError, match="failing"):
        quantize_qat(net, mapping={M.ReLU: Failing})
    bad = QConfig(partial(MinMaxObserver, dtype="int7"), None, None, None)
    with pytest.raises(ValueError, match="dtype must be one of"):
        quantize_qat(net, qconfig=bad)
    far = QConfig(partial(MinMaxObserver, axis=2), None, None, None)
    with pytest.raises(ValueError, match="MinMaxObserver: axis must be below 2, got 2"):
        quantize_qat(net, qconfig=far)
    with pytest.raises(TypeError, match="quantize_qat: qconfig must be a QConfig, got None"):
        quantize_qat(net, qconfig=None)
    assert shape_of(net) == before
    quantize_qat(net)
    net(Tensor(X))
    before = shape_of(net)
    for change in (quantize_qat, propagate_qconfig, reset_qconfig):
        with pytest.raises(ValueError, match="MinMaxObserver: axis must be below 2, got 2"):
            change(net, qconfig=far)
        assert shape_of(net) == before


def test_a_place_that_cannot_change():
    """Where one place cannot change, those that did are put back."""

    class Fixed(M.Sequential):
        def __setattr__(self, key, value):
            if isinstance(value, qat.Linear):
                raise TypeError("Fixed")
            super().__setattr__(key, value)

    net = M.Sequential(M.Linear(3, 3), Fixed(M.Linear(3, 2)))
    before = shape_of(net)
    with pytest.raises(TypeError, match="Fixed"):
        quantize_qat(net)
    assert shape_of(net) == before


@pytest.mark.parametrize("qconfig", [ema_fakequant_qconfig, calibration_qconfig])
def test_layers_that_saw_nothing_are_refused(qconfig):
    """quantize names observers that saw nothing, and changes nothing."""
    net = quantize_qat(Net(), qconfig=qconfig)
    before = shape_of(net)
    with pytest.raises(RuntimeError) as caught:
        quantize(net)
    assert str(caught.value) == (
        "quantize: layers.0.weight_observer, layers.0.act_observer, "
        "layers.1.last.weight_observer, layers.1.last.act_observer, quant.act_observer observed "
        "nothing (the network must run on data while they are enabled)"
    )
    assert shape_of(net) == before


# Configurations.


def test_configurations_are_given():
    """propagate_qconfig makes parts for what a module has: a weight, a result."""
    net = quantize_qat(Net(), qconfig=tqt_qconfig)
    linear, stub, end = net.layers[0], net.quant, net.dequant
    assert linear.weight_observer is None and isinstance(linear.weight_fake_quant, TQT)
    assert stub.weight_fake_quant is None and isinstance(stub.act_fake_quant, TQT)
    assert end.act_fake_quant is None
    propagate_qconfig(net, min_max_fakequant_qconfig)
    assert isinstance(linear.weight_observer, MinMaxObserver)
    assert linear.weight_observer is not net.layers[1]["last"].weight_observer
    other = M.Sequential(net, M.Linear(3, 3))
    quantize_qat(other, qconfig=tqt_qconfig)
    assert isinstance(linear.weight_fake_quant, TQT) and linear.weight_observer is None
    with pytest.raises(TypeError, match="propagate_qconfig: qconfig must be a QConfig"):
        propagate_qconfig(net, "tqt")


@pytest.mark.parametrize("qconfig", [passive_qconfig, LEARNT])
def test_scales_are_taken_over(qconfig):
    """reset_qconfig lets what can begin at a scale begin at the one that was found."""
    net = trained()
    wanted = [(each.get_weight_qparams(), each.get_activation_qparams()) for each in
              (net.layers[0], net.layers[1]["last"])]  # fmt: skip
    other = reset_qconfig(net, qconfig, inplace=False)
    for each, (weight, act) in zip((other.layers[0], other.layers[1]["last"]), wanted, strict=True):
        np.testing.assert_allclose(each.get_weight_qparams().scale.item(), weight.scale.item())
        np.testing.assert_allclose(each.get_activation_qparams().scale.item(), act.scale.item())
    assert isinstance(net.layers[0].weight_observer, MinMaxObserver)
    reset_qconfig(net, passive_qconfig)
    assert isinstance(net.layers[0].weight_observer, PassiveObserver)


def test_steps_are_taken_over():
    """TQT begins at the next larger power of two."""
    net = trained()
    scale = net.layers[0].get_weight_qparams().scale.item()
    reset_qconfig(net, tqt_qconfig)
    assert net.layers[0].get_weight_qparams().scale.item() == 2 ** np.ceil(np.log2(scale))


def test_scales_that_are_missing():
    """reset_qconfig refuses scales that nobody found, by name, and changes nothing."""
    net = quantize_qat(Net())
    before = shape_of(net)
    with pytest.raises(RuntimeError, match="reset_qconfig: layers.0.weight_observer observed"):
        reset_qconfig(net, passive_qconfig)
    assert shape_of(net) == before
    assert reset_qconfig(net, calibration_qconfig) is net
    reset_qconfig(net, QConfig(None, None, None, None))
    with pytest.raises(RuntimeError, match="layers.0.weight_fake_quant has no scale to begin at"):
        reset_qconfig(net, tqt_qconfig)


def test_channels_are_known_at_once():
    """Scales of channels are there for a trace, and for a state that is loaded."""
    net = quantize_qat(Net(), qconfig=CHANNELS)
    weight = net.layers[0].weight
    assert tuple(net.layers[0].weight_observer.min_val.shape) == (3, 1)
    jit.trace(net)(Tensor(X))
    found = net.layers[0].get_weight_qparams().scale
    low, high = (getattr(weight.numpy(), end)(1, keepdims=True) for end in ("min", "max"))
    assert same_bits(found, formulas.symmetric_scale(low, high, "qint8_narrow"))
    loaded = quantize_qat(Net(), qconfig=CHANNELS)
    loaded.load_state_dict(net.state_dict())
    assert same_bits(loaded(Tensor(X)), net(Tensor(X)))


# Switches.


def test_switches():
    """Observers and fake-quantization are switched in the whole network."""
    net = quantize_qat(Net(), qconfig=min_max_fakequant_qconfig)
    parts = [net.quant, net.layers[0], net.layers[1]["last"]]
    for switch, name, value in (
        (disable_observer, "observer", False), (enable_observer, "observer", True),
        (disable_fake_quant, "fake_quant", False), (enable_fake_quant, "fake_quant", True),
    ):  # fmt: skip
        switch(net)
        assert all(getattr(each, f"act_{name}").enabled is value for each in parts)
        assert getattr(net.layers[0], f"weight_{name}").enabled is value


def test_a_network_without_fake_quantization_is_the_float_one():
    """Switched off the network gives what the float network gave; on it does not."""
    net = Net()
    wanted = net(Tensor(X)).numpy()
    quantize_qat(net, qconfig=min_max_fakequant_qconfig)
    net(Tensor(X))
    disable_observer(net)
    rounded = net(Tensor(X)).numpy()
    disable_fake_quant(net)
    assert same_bits(net(Tensor(X)), wanted)
    enable_fake_quant(net)
    assert same_bits(net(Tensor(X)), rounded) and not same_bits(rounded, wanted)


def test_hooks():
    """hook_qat_module hooks QAT modules alone."""
    net, seen = trained(), []
    handles = hook_qat_module(net, lambda module, *_: seen.append(module))
    net(Tensor(X))
    assert len(handles) == len(seen) == 4
    for handle in handles:
        handle.remove()
    net(Tensor(X))
    assert len(seen) == 4


def test_states():
    """A state carries scales: the copy rounds as the network does, without data."""
    net = trained(ema_fakequant_qconfig).eval()
    other = quantize_qat(Net()).eval()
    other.load_state_dict(net.state_dict())
    assert same_bits(other(Tensor(X)), net(Tensor(X)))
    assert same_bits(copy.deepcopy(net)(Tensor(X)), net(Tensor(X)))
