"""EasyQuant: the scales that it finds, on networks whose best scales are known."""

from functools import partial

import numpy as np
import pytest
import tessera.module as M  # noqa: N812
from tessera import Tensor
from tessera.quantization import (
    FakeQuantize,
    MinMaxObserver,
    PassiveObserver,
    QConfig,
    apply_easy_quant,
    min_max_fakequant_qconfig,
    passive_qconfig,
    quantize_qat,
    reset_qconfig,
)

from tests.frontends.python.quantization import formulas
from tests.frontends.python.quantization.formulas import floats

LOW_BITS = [
    QConfig(partial(observer, dtype="qint4"), partial(observer, dtype="qint4"),
            partial(FakeQuantize, dtype="qint4"), partial(FakeQuantize, dtype="qint4"))
    for observer in (MinMaxObserver, PassiveObserver)
]  # fmt: skip


def passive(net, data, before=min_max_fakequant_qconfig, after=passive_qconfig):
    quantize_qat(net, qconfig=before)
    net(Tensor(data))
    return reset_qconfig(net, after).eval()


def shares_of(net):
    """Found scales over those at first."""
    rows = {}
    for name, each in net.named_modules():
        if isinstance(each, PassiveObserver):
            rows[name] = (each.scale.numpy() / each.orig_scale).item()
    return rows


def test_scales_of_activations():
    """The scale of a stub is the one, of those tried, with the largest cosine."""
    data = floats(64, 50)
    net = passive(M.Sequential(M.QuantStub()), data, *LOW_BITS)
    first = net[0].act_observer.scale.item()
    apply_easy_quant(net, Tensor(data), 0.5, 1.5, 11)

    def likeness(share):
        rounded = formulas.fake_quant(data, np.float32(first * share), 0, -8, 7)
        lengths = np.linalg.norm(data, axis=1) * np.linalg.norm(rounded, axis=1)
        return ((data * rounded).sum(1) / lengths).mean()

    wanted = max(np.linspace(0.5, 1.5, 11), key=likeness)
    assert wanted != 1 and shares_of(net)["0.act_observer"] == pytest.approx(wanted)


def test_results_are_more_alike():
    """The cosine between results of the whole network with and without rounding grows."""
    data = floats(64, 16)
    float_net = M.Sequential(M.QuantStub(), M.Linear(16, 16), M.Linear(16, 4))
    wanted = float_net(Tensor(data)).numpy()
    net = passive(float_net, data, *LOW_BITS)

    def likeness():
        found = net(Tensor(data)).numpy()
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
        return ((found * wanted).sum(1) / lengths).mean()

    before = likeness()
    assert apply_easy_quant(net, Tensor(data), 0.5, 1.2, 15) is net
    assert likeness() > before and len(shares_of(net)) == 5
    assert all(0.49 < share < 1.21 for share in shares_of(net).values())


def test_layers_see_what_is_rounded_before_them():
    """A layer is compared on plain data and on that which the layers before it rounded."""
    data = floats(8, 3)
    net, inputs = passive(M.Sequential(M.QuantStub(), M.Linear(3, 2)), data, *LOW_BITS), []
    plain = net[1].forward
    net[1].forward = lambda x: (inputs.append(x.numpy()), plain(x))[1]
    apply_easy_quant(net, Tensor(data), num=3)
    scale = net[0].act_observer.scale.numpy()
    rounded = formulas.fake_quant(data, scale, 0, -8, 7)
    assert sum(np.array_equal(each, data) for each in inputs) == 2  # for the weight and the result
    assert sum(np.array_equal(each, rounded) for each in inputs) >= 4


def test_everything_else_is_as_before():
    """Hooks of a user stay, the search's own go, and fake-quantization is enabled."""
    data = floats(8, 3)
    net, seen = passive(M.Sequential(M.QuantStub(), M.Linear(3, 2)), data), []
    net[1].register_forward_hook(lambda *_: seen.append(1))
    apply_easy_quant(net, Tensor(data), num=3)
    assert [len(each._forward_hooks) for each in net] == [0, 1] and len(seen) == 2
    assert net[1].weight_fake_quant.enabled and net[0].act_fake_quant.enabled


def test_operands_without_a_batch():
    """Operands that are no batch go to both halves as they are."""

    class Shifted(M.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.add = M.QuantStub(), M.Elemwise("add")
            self.shift = Tensor([[1.0, 2.0, 3.0]])

        def forward(self, x):
            return self.add(self.quant(x), self.shift)

    data = floats(8, 3)
    net = passive(Shifted(), data)
    apply_easy_quant(net, Tensor(data), num=5)
    assert sorted(shares_of(net)) == ["add.act_observer", "quant.act_observer"]
    assert net(Tensor(data)).shape == (8, 3)


def test_zeros_keep_their_scale():
    """Results of 0 have no cosine, and the scale stays."""
    data = np.zeros((4, 3), np.float32)
    net = passive(M.Sequential(M.QuantStub()), data)
    apply_easy_quant(net, Tensor(data), num=3)
    assert shares_of(net) == {"0.act_observer": 1}


def test_samples_of_one_number():
    """A batch may have one axis."""
    data = floats(16)
    net = passive(M.Sequential(M.QuantStub()), data)
    apply_easy_quant(net, Tensor(data), num=3)
    assert 0.79 < shares_of(net)["0.act_observer"] < 1.21


def test_other_observers_are_refused():
    """The observers must take scales, and no hook of the search stays."""
    net = quantize_qat(M.Sequential(M.QuantStub(), M.Linear(3, 2)))
    net(Tensor(floats(4, 3)))
    with pytest.raises(ValueError, match="weight_observer must be a PassiveObserver .*MinMaxObs"):
        apply_easy_quant(net, Tensor(floats(4, 3)))
    assert [len(each._forward_hooks) for each in net] == [0, 0]


@pytest.mark.parametrize("row", [(0, 1, 5), (1, 0.5, 5), (0.5, 1, 0)])
def test_bad_arguments(row):
    """The interval must be one of shares above 0."""
    with pytest.raises(ValueError, match="apply_easy_quant: start must be above 0"):
        apply_easy_quant(M.Sequential(M.QuantStub()), Tensor(floats(4, 3)), *row)
