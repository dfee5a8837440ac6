"""Quantized modules: made of QAT modules, kept in states, copies and files; what is refused."""

import copy
import io
import pickle

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import jit
from tessera.dtype import get_scale, is_dtype_equal, qint8, qint8_narrow, quint8
from tessera.module import qat, quantized
from tessera.quantization import min_max_fakequant_qconfig, quantize, quantize_qat

from tests.frontends.python.quantization.networks import LAYERS, Small, numbers
from tests.support.helper import same_bits

CASES = [name for name in LAYERS if " " not in name]


def _small(scale=1.0):
    """The QAT network and its quantized one, and numbers for them."""
    net, x = quantize_qat(Small(), qconfig=min_max_fakequant_qconfig), numbers(4, 3, 8, 8)
    net(x * scale)
    net.eval()
    return net, quantize(net, inplace=False), x


@pytest.mark.parametrize("name", [name for name in qat.__all__ if name != "QATModule"])
def test_every_qat_module_has_a_quantized_one(name):
    kind = getattr(quantized, name)
    assert issubclass(kind, quantized.QuantizedModule) and not issubclass(kind, qat.QATModule)


def test_a_quantized_module_shares_nothing():
    net, whole, _ = _small()
    assert not any(module.training for module in whole.modules() if module is not whole)
    assert isinstance(whole.first, quantized.ConvBnRelu2d) and not hasattr(whole.first, "bn")
    assert list(dict(whole.first.named_tensors())) == ["bias", "weight"]
    tensors = {id(each) for each in net.tensors()}
    assert not tensors & {id(each) for each in whole.tensors()}
    assert is_dtype_equal(whole.first.output_dtype, net.first.get_activation_dtype())
    assert repr(whole.fc) == "Quantized.Linear(in_features=4, out_features=5, bias=True)"


def test_names_of_tensors_stay():
    layer = M.Linear(4, 2)
    layer.weight.name, layer.bias.name = "w", "b"
    net = quantize_qat(M.Sequential(M.QuantStub(), layer))
    net(numbers(3, 4))
    made = quantize(net)[1]
    assert (made.weight.name, made.bias.name) == ("w", "b")


def test_copies_pickles_and_files_of_graphs_give_the_same():
    for net in _small()[:2]:
        x = numbers(4, 3, 8, 8)
        want = net(x)
        assert same_bits(copy.deepcopy(net)(x), want)
        assert same_bits(pickle.loads(pickle.dumps(net))(x), want)
        traced = tm.trace_module(net, x)
        kinds = {type(each) for each in traced.graph.get_module_by_type(M.Module).as_list() and
                 traced.modules()}  # fmt: skip
        assert type(net.first) in kinds
        file = io.BytesIO()
        tessera.save(traced, file)
        file.seek(0)
        loaded = tessera.load(file)
        assert type(loaded.first) is type(net.first) and same_bits(loaded(x), want)


def test_a_state_has_scales_of_weights():
    _, first, x = _small()
    _, second, _ = _small(0.5)
    state = first.state_dict()
    assert is_dtype_equal(state["fc.weight"].dtype, first.fc.weight.dtype)
    second.load_state_dict(state)
    assert is_dtype_equal(second.fc.weight.dtype, first.fc.weight.dtype)
    for each in ("quant", "first", "second", "add", "fc"):
        getattr(second, each).output_dtype = getattr(first, each).output_dtype
    assert same_bits(second(x), first(x))


def test_a_module_that_is_made_by_its_class_takes_a_state():
    net = quantize_qat(M.Sequential(M.QuantStub(), M.Conv2d(3, 4, 3, padding=1)))
    x = numbers(1, 3, 5, 5)
    net(x)
    trained = quantize(net.eval())
    conv = quantized.Conv2d(3, 4, 3, padding=1, dtype=trained[1].output_dtype).eval()
    assert get_scale(conv.weight.dtype) == 1.0
    conv.load_state_dict(trained[1].state_dict())
    assert same_bits(conv(trained[0](x)), trained(x))


def test_stubs_of_their_own():
    stub = quantized.QuantStub(quint8(0.5, 10)).eval()
    assert stub(tessera.tensor([1.0])).tolist() == [12]
    assert quantized.DequantStub().eval()(stub(tessera.tensor([1.0]))).tolist() == [1.0]
    x = quantized.QuantStub(qint8(0.5)).eval()(tessera.tensor([1.0]))
    assert quantized.Concat(qint8(0.25)).eval()([x, x]).tolist() == [4, 4]


class _Between(M.Module):
    """Functions between the layers of a network."""

    def __init__(self):
        super().__init__()
        self.quant, self.dequant = M.QuantStub(), M.DequantStub()
        self.conv, self.fc = M.ConvRelu2d(3, 8, 3, padding=1), M.Linear(8 * 2 * 2, 5)
        self.pool = M.MaxPool2d(2)

    def forward(self, x):
        x = F.avg_pool2d(self.pool(self.conv(self.quant(x))), 2)
        return self.dequant(self.fc(F.flatten(x, 1)))


def test_functions_between_layers_stay_in_the_network():
    net, x = quantize_qat(_Between(), qconfig=min_max_fakequant_qconfig), numbers(4, 3, 8, 8)
    net(x)
    want = net.eval()(x).numpy()
    whole = quantize(net)
    step = get_scale(whole.fc.output_dtype)
    got = whole(x).numpy()  # means are rounded, which training does not see
    np.testing.assert_allclose(got, want, atol=2.1 * step)
    assert same_bits(jit.trace(whole)(x), whole(x))


# Refusals.


@pytest.mark.parametrize("name", CASES)
def test_quantized_modules_do_not_train(name):
    make, *shapes = LAYERS[name]
    net = quantize_qat(make(), qconfig=min_max_fakequant_qconfig)
    operands = [numbers(*shape) for shape in shapes]
    operands = [operands] if name == "Concat" else operands
    net(*operands)
    made = quantize(net).train()
    with pytest.raises(ValueError, match=f"{name}: a quantized module must be in inference mode"):
        made(*operands)


def test_a_quantized_module_is_made_of_its_own_qat_module():
    layer = quantize_qat(M.Linear(4, 2))
    with pytest.raises(TypeError, match="qat_module must be a qat.Conv2d, got QAT.Linear"):
        quantized.Conv2d.from_qat_module(layer)
    with pytest.raises(TypeError, match="qat_module must be a qat.Linear, got Linear"):
        quantized.Linear.from_qat_module(M.Linear(4, 2))


def test_dtypes_must_be_known():
    layer = qat.Linear.from_float_module(M.Linear(4, 2))
    with pytest.raises(ValueError, match="the weight of Linear must have a quantized dtype"):
        quantized.Linear.from_qat_module(layer)
    stub = qat.QuantStub.from_float_module(M.QuantStub())
    with pytest.raises(ValueError, match="the result of QuantStub must have a quantized dtype"):
        quantized.QuantStub.from_qat_module(stub)
    with pytest.raises(TypeError, match="QuantStub: dtype must be quantized, got None"):
        quantized.QuantStub().eval()(tessera.tensor([1.0]))


def test_floats_are_refused():
    net = quantize_qat(M.Sequential(M.QuantStub(), M.Linear(4, 2)))
    net(numbers(3, 4))
    made = quantize(net)
    assert is_dtype_equal(made[1].weight.dtype, qint8_narrow(get_scale(made[1].weight.dtype)))
    with pytest.raises(TypeError, match="linear: inp must be quantized, got float32"):
        made[1](numbers(3, 4))
