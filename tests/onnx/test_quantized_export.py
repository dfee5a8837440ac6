"""Quantized programs as files: the reference and Tessera itself make of them the same bits, or with
QuantizeLinear numbers that are at most one step apart.
"""

import io

import numpy as np
import onnx
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.onnx
from tessera import jit
from tessera.dtype import qint4, qint8, qint8_narrow, qint32, quint4, quint8
from tessera.quantization import PostTrainingConfig, quantize, quantize_model, quantize_qat

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
from tests.onnx.test_export import by_reference
from tests.support.helper import flat


class Body(Small):
    """Small without the mean at its end, whose order of summation is free."""

    def forward(self, x):
        x = self.first(self.quant(x))
        x = self.add(x, self.second(x))
        return self.dequant(self.fc(x))


def _exported(function, inputs, **options):
    """(the model, the array that the function gave)"""
    traced = jit.trace(lambda *args: function(*args), capture_as_const=True)
    (result,) = flat(traced(*inputs))
    stream = io.BytesIO()
    tessera.onnx.export(traced, stream, **options)
    return onnx.load_from_string(stream.getvalue()), result.numpy()


def _elsewhere(model, inputs):
    """Results of the reference, and of Tessera for the model that it reads again."""
    arrays = [each.numpy() for each in inputs]
    if model.opset_import[0].version >= 19:  # the first DequantizeLinear that the reference has
        yield by_reference(model, arrays)[0]
    yield tessera.onnx.load(model)(*arrays).numpy()


def _bits(array):
    return array.dtype.name, array.shape, array.tobytes()


def check_exact(function, *inputs, **options):
    model, wanted = _exported(function, inputs, **options)
    for got in _elsewhere(model, inputs):
        assert _bits(got) == _bits(wanted)
    return {node.op_type for node in model.graph.node}


def check_near(function, step, *inputs):
    model, wanted = _exported(function, inputs, quantization="qdq")
    for got in _elsewhere(model, inputs):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        assert abs(got.astype("float64") - wanted).max() <= step * 1.001
    return {node.op_type for node in model.graph.node}


def _trained(net, qconfig, *inputs):
    net = quantize_qat(net, qconfig=qconfig).train()
    begin_steps(net)
    for _ in range(2):
        net(*inputs)
    return net.eval()


SUMS = {"MatMulInteger", "ConvInteger"}


@pytest.mark.parametrize("qconfig", QCONFIGS)
def test_a_network_gives_the_same_bits(qconfig):
    x = numbers(2, 3, 8, 8)
    trained = _trained(Body(), QCONFIGS[qconfig], x)
    assert check_exact(trained, x) >= SUMS
    for opset in (13, 23):
        operators = check_exact(quantize(trained, inplace=False), x, opset=opset)
        assert operators >= SUMS | {"DequantizeLinear"} and "QuantizeLinear" not in operators


@pytest.mark.parametrize("qconfig", ["min and max", "zero points", "trained steps"])
def test_a_network_with_quantize_linear_is_a_step_apart(qconfig):
    x = numbers(2, 3, 8, 8)
    trained = _trained(Body(), QCONFIGS[qconfig], x)
    step = trained.fc.act_fake_quant.get_qparams() if qconfig == "trained steps" else None
    step = step or trained.fc.act_observer.get_qparams()
    pair = {"QuantizeLinear", "DequantizeLinear"}
    for net in (trained, quantize(trained, inplace=False)):
        assert check_near(net, step.scale.item(), x) >= SUMS | pair


@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_the_same_bits(name):
    net, operands = between(name)
    net = _trained(net, QCONFIGS["zero points"], *operands)
    check_exact(quantize(net), *operands)


@pytest.mark.parametrize("name", [name for name in WITH_CHANNELS if "2d" in name][:3])
def test_weights_have_a_scale_for_each_channel(name):
    net, operands = between(name)
    net = _trained(net, OF_CHANNELS, *operands)
    check_exact(net, *operands)
    check_near(net, 0.5, *operands)
    check_exact(quantize(net), *operands)


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_a_model_that_was_quantized_in_one_call(mode):
    x = numbers(4, 4, 5)
    net = tessera.module.Sequential(
        tessera.module.Linear(5, 6), tessera.module.ReLU(), tessera.module.Linear(6, 3)
    )
    quantized, _ = quantize_model(net, [x], PostTrainingConfig(mode=mode))
    assert "MatMulInteger" in check_exact(quantized, x)


# Halves, ends, what is beyond them, and what is no number; steps are 0.5.
ODD = np.array([0.25, -0.25, 0.75, 1.25, -1.25, 63.5, 64, -64, -64.25, 1e9, -1e9, -1e-9, 0, np.inf,
                -np.inf, np.nan, 3.1, -7.9, 2.4999998, 4194303.75], "float32")  # fmt: skip
DTYPES = [qint8(0.5), qint8_narrow(0.5), quint8(0.5, 100), qint4(0.5), quint4(0.5, 3), qint32(0.5)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_become_the_same_integers(dtype):
    x = tessera.tensor(ODD)
    check_exact(lambda x: x.astype(dtype), x)
    check_exact(lambda x: x.astype(dtype).astype("float32"), x)
    integers = x.astype(dtype)
    check_exact(lambda x: x.astype("float32") + 1, integers)
    check_exact(lambda x: x.reshape((4, 5))[1:].transpose(1, 0), integers)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_integer_dtypes_are_written_too(dtype):
    check_exact(lambda x: F.quantize(x, 0.5, 3, dtype), tessera.tensor(ODD))
    x = tessera.Tensor(np.array([100, 0, 7]), dtype=dtype)
    check_exact(lambda x: F.dequantize(x, 0.1, 3), x)


def test_grids_are_the_same():
    x, scales = numbers(3, 4), tessera.tensor([[0.5], [0.1], [2.0]])
    zeros = tessera.tensor(np.array([[0], [5], [7]], "int32"))
    odd = tessera.tensor(ODD)
    check_exact(lambda x: F.fake_quant(x, 0.5, 0), odd)
    check_exact(lambda x: F.fake_quant(x, 0.5, 300, 200, 1000), odd)
    check_exact(lambda x: F.fake_quant(x, 0.5, 0, 3, 9), odd)
    check_exact(lambda x, z: F.fake_quant(x, scales, z, 0, 15), x, zeros)
    check_exact(lambda x, s: F.fake_quant(x, s, 0), x, scales)
    assert "DequantizeLinear" in check_near(lambda x: F.fake_quant(x, scales, zeros, 0, 15), 2, x)
    assert "Clip" in check_near(lambda x: F.fake_quant(x, 0.1, 0, -8, 7), 0.1, x)


def test_halves_may_differ_with_quantize_linear():
    x = tessera.tensor((np.arange(-9, 9) + 0.5).astype("float32"))
    model, away = _exported(lambda x: x.astype(qint8(1)), [x], quantization="qdq")
    for got in _elsewhere(model, [x]):
        np.testing.assert_array_equal(got, np.rint(x.numpy()))
        assert abs(got.astype("int32") - away).max() == 1
    narrow = check_near(lambda x: (x * 100).astype(qint8_narrow(1)), 0, x)
    assert {"QuantizeLinear", "Clip"} <= narrow


def test_scales_that_one_node_cannot_take_are_written_out():
    x, scales = numbers(3, 4), tessera.tensor(abs(numbers(3, 4, seed=1).numpy()) + 0.1)
    operators = check_near(
        lambda x: F.dequantize(F.quantize(x, scales, 3, "int8"), scales, 3), 0, x
    )
    assert not {"QuantizeLinear", "DequantizeLinear"} & operators
    wide = check_exact(
        lambda x: F.dequantize(x, 0.5, 300), tessera.Tensor(np.arange(9), dtype="int8")
    )
    assert "DequantizeLinear" not in wide


# strides, padding, dilation, groups and output_padding of transposed convolutions.
TRANSPOSED = {
    "plain": ([1, 1], [0, 0], [1, 1], 1, [0, 0]),
    "spread": ([2, 3], [0, 1], [1, 1], 1, [1, 2]),
    "dilated": ([1, 2], [2, 1], [3, 2], 2, [0, 1]),
    "cut off": ([2, 2], [4, 3], [1, 1], 2, [0, 1]),
}


@pytest.mark.parametrize("zero", [None, 100])
@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_sums(name, zero):
    sizes = TRANSPOSED[name]
    random = np.random.default_rng(0)
    x = tessera.Tensor(random.integers(0, 256, (2, 4, 6, 5)), dtype="uint8")
    weight = random.integers(-128, 128, (4, 6 // sizes[3], 3, 2))
    weight = tessera.Tensor(weight, dtype="int8")
    sums = F.quantized.integer_conv_transpose2d
    assert "ConvInteger" in check_exact(lambda x, w: sums(x, w, zero, *sizes), x, weight)


@pytest.mark.parametrize("activations", ["float", "int8"])
@pytest.mark.parametrize("opset", [20, 23])
@pytest.mark.parametrize(("bits", "group"), [(8, 0), (8, 16), (4, 0), (4, 8)])
def test_weights_alone_are_quantized(bits, group, opset, activations):
    """Sums are those of floats, in the order of each runtime."""
    random, groups = np.random.default_rng(0), (-(-21 // group),) if group else ()
    width = 21 if bits == 8 else 11
    weight = tessera.Tensor(random.integers(-128, 128, (6, width)), dtype="int8")
    scale = tessera.tensor(random.random((6, *groups)).astype("float32") * 0.1)
    linear, bias, x = F.quantized.weight_only_linear, numbers(6, seed=1), numbers(2, 3, 21)
    layer = lambda x: linear(x, weight, scale, bias, bits, group, activations)  # noqa: E731
    model, wanted = _exported(layer, [x], opset=opset)
    types = {each.data_type for each in model.graph.initializer}
    assert (onnx.TensorProto.INT4 in types) == (bits == 4 and opset == 23)
    for got in _elsewhere(model, [x]):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-4)


def test_a_zero_point_may_be_an_input():
    x = tessera.Tensor(np.arange(6).reshape(2, 3), dtype="uint8")
    zero = tessera.tensor(np.array(3, "int32"))
    check_exact(lambda x, z: F.quantized.integer_matmul(x, x, z, z, transpose_y=True), x, zero)
    check_exact(lambda x, z: F.dequantize(x, 0.5, z), x, zero)


def test_a_free_batch_and_free_sizes_stay_free():
    net, (x,) = between("ConvTranspose2d")
    net = quantize(_trained(net, QCONFIGS["zero points"], x))
    traced = jit.trace(lambda x: net(x), capture_as_const=True)
    traced(x)
    stream, sizes = io.BytesIO(), {axis: jit.Dim(f"d{axis}", 3, 50) for axis in (0, 2, 3)}
    tessera.onnx.export(traced, stream, arg_names=["x"], dims={"x": sizes})
    model = onnx.load_from_string(stream.getvalue())
    for shape in ((3, 4, 5, 5), (4, 4, 6, 9)):
        x = numbers(*shape)
        assert _bits(by_reference(model, [x.numpy()])[0]) == _bits(net(x).numpy())


def _refused(function, *inputs, **options):
    with pytest.raises((ValueError, NotImplementedError)) as caught:
        _exported(function, inputs, **options)
    return str(caught.value)


def test_what_cannot_be_written_is_refused():
    x = tessera.Tensor(np.ones((2, 2)), dtype="int8")
    message = _refused(lambda x: x + 1, x, quantization="even")
    assert message == "export: quantization must be 'exact' or 'qdq', got 'even'"
    message = _refused(lambda x: F.quantized.integer_matmul(x, x, 300), x)
    assert "got integer_matmul at" in message and "zero points must be numbers of int8" in message
    message = _refused(lambda x: F.quantize(x, 0.5, 0, "int64"), tessera.tensor(ODD))
    assert "integers must have at most 32 bits" in message


def test_a_model_takes_the_integers_of_an_array_and_no_quantized_tensor():
    x = tessera.tensor([1.0, -2.0]).astype(qint8(0.5))
    model, wanted = _exported(lambda x: x.astype("float32") + 1, [x])
    own = tessera.onnx.load(model)
    np.testing.assert_array_equal(own(x.numpy()).numpy(), wanted)
    with pytest.raises(TypeError, match=r"input 'arg0' must be int8, got qint8<0.5>"):
        own(x)
