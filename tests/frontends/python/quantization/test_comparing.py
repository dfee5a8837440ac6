"""compare_layers: QAT models in inference and the quantized ones."""

import numpy as np
import pytest
import tessera
import tessera.module as M  # noqa: N812
from tessera.quantization import compare_layers, quantize, quantize_qat

from tests.frontends.python.quantization import networks


def pair(seed=0):
    """(QAT model in inference, quantized one, their input)."""
    net, x = networks.Small(), networks.numbers(2, 3, 8, 8, seed=seed)
    quantize_qat(net)
    net(x)
    return net.eval(), quantize(net, inplace=False), x


def test_qat_and_quantized_models_are_equal():
    qat, quantized, x = pair()
    found = compare_layers(qat, quantized, x)
    names = [each.name for each in found.layers]
    assert found.first is None and names == ["quant", "first", "second", "add", "fc", "dequant", ""]
    assert str(found) == "7 layers, all equal"


def test_the_first_layer_that_differs_is_named():
    qat, quantized, x = pair()
    weight = quantized.second.weight
    integers = weight.numpy().copy()
    integers[0, 0, 0, 0] += 40
    quantized.second.weight = tessera.Parameter(np.int8(integers), dtype=weight.dtype)
    found = compare_layers(qat, quantized, x)
    assert found.first.name == "second" and found.first.largest > 0
    assert str(found).startswith(f"second: {found.first.count} elements differ by ")
    assert next(each for each in found.layers if each.name == "first").count == 0


def test_shapes_and_numbers_that_differ():
    first, second = M.Sequential(M.Linear(2, 3)), M.Sequential(M.Linear(2, 4))
    assert compare_layers(first, second, networks.numbers(5, 2)).first.largest == np.inf
    second = M.Sequential(M.Linear(2, 3))
    second[0].bias[0] = np.nan
    found = compare_layers(first, second, networks.numbers(5, 2)).first
    assert (found.name, found.largest, found.count >= 5) == ("0", np.inf, True)
    assert compare_layers(second, second, networks.numbers(5, 2)).first is None


def test_hooks_go():
    qat, quantized, x = pair()
    compare_layers(qat, quantized, x)
    assert not any(each._forward_hooks for each in [*qat.modules(), *quantized.modules()])


def test_refusals():
    with pytest.raises(TypeError, match="models must be modules, got int"):
        compare_layers(M.ReLU(), 1, networks.numbers(2))
    with pytest.raises(ValueError, match=r"layers of the same names, got \['', '0'\] and \[''\]"):
        compare_layers(M.Sequential(M.ReLU()), M.ReLU(), networks.numbers(2))
