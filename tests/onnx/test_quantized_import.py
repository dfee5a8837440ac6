"""Quantized operators of ONNX: sums are those of integers, and halves go to even."""

import numpy as np
import onnx
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator
from tessera import jit

from tests.onnx.test_export import exported

TYPES = [("uint8", "uint8"), ("int8", "int8"), ("uint8", "int8"), ("int8", "uint8")]


def _bytes(dtype, *shape, seed=0):
    limits = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def _model(op_type, inputs, outputs=("y",), fixed=(), **attributes):
    """A model of one node, of which the inputs with numbers in `fixed` are constants; None is an
    input that is left out.
    """
    names = [f"x{number}" if each is not None else "" for number, each in enumerate(inputs)]
    arrays = {name: each for name, each in zip(names, inputs, strict=True) if name}
    constants = [onnx.numpy_helper.from_array(inputs[n], names[n]) for n in fixed]
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
        for name, each in arrays.items()
        if name not in {constant.name for constant in constants}
    ]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
    node = helper.make_node(op_type, names, outputs, **attributes)
    graph = helper.make_graph([node], "test", given, results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def _run(op_type, inputs, fixed=(), **attributes):
    """(what the model of one node gives, eagerly and in a trace; the operators of that trace)."""
    loaded = tessera.onnx.load(_model(op_type, inputs, fixed=fixed, **attributes))
    given = [each for n, each in enumerate(inputs) if each is not None and n not in fixed]
    tensors = [tessera.Tensor(each, dtype=each.dtype.name) for each in given]
    result = loaded(*tensors).numpy()
    written, (traced,) = exported(lambda *args: loaded(*args), *tensors)
    np.testing.assert_array_equal(traced, result)
    return result, [node.op_type for node in written.graph.node]


def _wide(x, zero):
    return x.astype("int64") - (0 if zero is None else np.asarray(zero).astype("int64"))


# Zero points of both operands, by what has one of its own.
ZEROS = {
    "none": (lambda t: None, lambda t: None),
    "of all": (lambda t: _bytes(t), lambda t: _bytes(t, 1, seed=1)),
    "of the second": (lambda t: None, lambda t: _bytes(t, seed=1)),
    "of rows": (lambda t: _bytes(t, 3), lambda t: _bytes(t, seed=1)),
    "of columns": (lambda t: _bytes(t), lambda t: _bytes(t, 5, seed=1)),
    "of rows and columns": (lambda t: _bytes(t, 3), lambda t: _bytes(t, 5, seed=1)),
    "of rows of each matrix": (lambda t: _bytes(t, 2, 3, 1), lambda t: _bytes(t, 2, 1, 5, seed=1)),
}


@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize("types", TYPES)
def test_matmul_integer(types, zeros):
    a, b = _bytes(types[0], 2, 3, 7), _bytes(types[1], 2, 7, 5, seed=2)
    a_zero, b_zero = (make(t) for make, t in zip(ZEROS[zeros], types, strict=True))
    rows = a_zero[:, None] if a_zero is not None and a_zero.ndim == 1 else a_zero
    expected = _wide(a, rows) @ _wide(b, b_zero)
    got, operators = _run("MatMulInteger", [a, b, a_zero, b_zero])
    assert got.dtype == np.int32 and "MatMulInteger" in operators
    np.testing.assert_array_equal(got, expected)


def test_matmul_integer_of_vectors_and_of_great_depth():
    a, b = _bytes("uint8", 7), _bytes("int8", 7, 5, seed=1)
    got, _ = _run("MatMulInteger", [a, b])
    np.testing.assert_array_equal(got, _wide(a, 0) @ _wide(b, 0))
    got, _ = _run("MatMulInteger", [b.T.copy(), a, np.array(3, "int8")])
    np.testing.assert_array_equal(got, _wide(b.T, 3) @ _wide(a, 0))
    a, b = _bytes("uint8", 1, 70000) % 100, _bytes("uint8", 70000, 1) % 100
    got, _ = _run("MatMulInteger", [a, b, np.array(50, "uint8"), np.array(50, "uint8")])
    np.testing.assert_array_equal(got, _wide(a, 50) @ _wide(b, 50))


# Attributes of convolutions, with the spatial sizes of the input and of the window.
WINDOWS = {
    "plain": ({}, (6, 5), (3, 2)),
    "even borders": ({"pads": [1, 2, 1, 2], "strides": [2, 1]}, (6, 5), (3, 2)),
    "uneven borders": ({"pads": [0, 1, 2, 0]}, (6, 5), (3, 2)),
    "same, more behind": ({"auto_pad": "SAME_UPPER", "strides": [2, 2]}, (6, 5), (3, 2)),
    "same, more before": ({"auto_pad": "SAME_LOWER", "dilations": [1, 2]}, (6, 7), (2, 2)),
    "valid": ({"auto_pad": "VALID", "dilations": [2, 1]}, (6, 5), (2, 2)),
    "groups": ({"group": 2, "pads": [1, 1, 1, 1]}, (6, 5), (3, 3)),
    "one axis": ({"pads": [2, 1]}, (9,), (3,)),
    "three axes": ({"pads": [1, 1, 1, 1, 1, 1], "group": 2}, (4, 3, 5), (2, 3, 2)),
}


def _convolved(x, weight, **attributes):
    """The sums by the reference's convolution of float64, in which they are exact."""
    x, weight = x.astype("float64"), weight.astype("float64")
    model = _model("Conv", [x, weight], **attributes)
    return ReferenceEvaluator(model).run(None, {"x0": x, "x1": weight})[0]


def _images(types, sizes, kernel, groups):
    return _bytes(types[0], 2, 4, *sizes), _bytes(types[1], 6, 4 // groups, *kernel, seed=1)


@pytest.mark.parametrize("zeros", ["none", "of all", "of channels"])
@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("windows", WINDOWS)
def test_conv_integer(windows, types, zeros):
    attributes, sizes, kernel = WINDOWS[windows]
    x, weight = _images(types, sizes, kernel, attributes.get("group", 1))
    x_zero = None if zeros == "none" else _bytes(types[0], seed=2)
    count = {"none": None, "of all": (), "of channels": (6,)}[zeros]
    weight_zero = None if count is None else _bytes(types[1], *count, seed=3)
    of_weights = weight_zero.reshape(-1, *[1] * (weight.ndim - 1)) if count else weight_zero
    expected = _convolved(_wide(x, x_zero), _wide(weight, of_weights), **attributes)
    got, operators = _run("ConvInteger", [x, weight, x_zero, weight_zero], **attributes)
    assert got.dtype == np.int32 and "ConvInteger" in operators and "Conv" not in operators
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("dtype", "zero"), [("uint8", 128), ("int8", 0), ("uint8", 100)])
def test_a_known_zero_point_that_int8_needs_not_costs_nothing(dtype, zero):
    x, weight = _images(("uint8", dtype), (6, 5), (3, 2), 1)
    inputs = [x, weight, np.array(0, "uint8"), np.full(6, zero, dtype)]
    got, operators = _run("ConvInteger", inputs, fixed=(1, 2, 3))
    assert operators.count("ConvInteger") == (2 if zero == 100 else 1)
    np.testing.assert_array_equal(got, _convolved(x, _wide(weight, zero)))


def _integers(sums, scale, zero):
    """The sums times a float32 scale, rounded to the nearest integer, halves to the even one."""
    limits = np.iinfo(zero.dtype)
    rounded = np.rint(sums.astype("float64") * scale.astype("float64")) + zero.astype("float64")
    return np.clip(rounded, limits.min, limits.max).astype(zero.dtype)


def _scales(*shape, seed=0):
    return (np.random.default_rng(seed).random(shape) * 0.02 + 0.01).astype("float32")


@pytest.mark.parametrize("is_each", [False, True])
@pytest.mark.parametrize("types", TYPES)
def test_qlinear_conv(types, is_each):
    x, weight = _images(types, (6, 5), (3, 3), 2)
    count = (6,) if is_each else ()
    x_zero, weight_zero, y_zero = (_bytes(t, *n, seed=5) for t, n in zip(
        (*types, types[0]), ((), count, ()), strict=True))  # fmt: skip
    x_scale, weight_scale, y_scale = _scales(seed=1), _scales(*count, seed=2), _scales() * 20
    bias = np.arange(-3, 3, dtype="int32") * 1000
    attributes = {"group": 2, "pads": [1, 0, 0, 1], "strides": [1, 2]}
    inputs = [x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias]
    got, operators = _run("QLinearConv", inputs, **attributes)
    zeros = weight_zero.reshape(-1, 1, 1, 1) if is_each else weight_zero
    sums = _convolved(_wide(x, x_zero), _wide(weight, zeros), **attributes)
    scale = (x_scale * weight_scale / y_scale).reshape(-1, 1, 1)
    expected = _integers(sums + bias.reshape(-1, 1, 1), scale, y_zero)
    assert "ConvInteger" in operators and len(np.unique(expected)) > 20
    assert got.dtype == y_zero.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("is_each", [False, True])
@pytest.mark.parametrize("types", TYPES)
def test_qlinear_matmul(types, is_each):
    a, b = _bytes(types[0], 2, 3, 7), _bytes(types[1], 7, 5, seed=1)
    rows, columns = ((3,), (5,)) if is_each else ((), (1,))
    a_zero, b_zero = _bytes(types[0], *rows, seed=2), _bytes(types[1], *columns, seed=3)
    a_scale, b_scale, y_scale = _scales(*rows), _scales(*columns, seed=1), _scales() * 10
    y_zero = _bytes(types[1], seed=4)
    got, operators = _run(
        "QLinearMatMul", [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero]
    )
    of_rows = a_scale[:, None] if is_each else a_scale
    sums = _wide(a, a_zero[:, None] if is_each else a_zero) @ _wide(b, b_zero)
    expected = _integers(sums, of_rows * b_scale / y_scale, y_zero)
    assert "MatMulInteger" in operators and len(np.unique(expected)) > 10
    np.testing.assert_array_equal(got, expected)


HALVES = np.arange(-6, 7).astype("float32") + np.float32(0.5)
EVEN = np.array([-6, -4, -4, -2, -2, 0, 0, 2, 2, 4, 4, 6, 6])


@pytest.mark.parametrize("zero", [0, 3])
def test_halves_go_to_even_before_the_zero_point(zero):
    """A tensor of Tessera's own has halves away from 0."""
    scale, zero = np.float32(0.25).reshape(()), np.array(zero, "int8")
    x = HALVES * scale
    got, _ = _run("QuantizeLinear", [x, scale, zero])
    np.testing.assert_array_equal(got, EVEN + zero)
    away = F.quantize(tessera.tensor(x), 0.25, int(zero), "int8").numpy()
    np.testing.assert_array_equal(away, np.trunc(HALVES + np.sign(HALVES) / 2) + zero)
    one, two = np.float32(1).reshape(()), np.float32(2).reshape(())
    none, odd = np.zeros((), "int8"), np.arange(-11, 14, 2, dtype="int8").reshape(-1, 1)
    unit = np.ones((1, 1), "int8")
    got, _ = _run("QLinearMatMul", [odd, one, none, unit, one, none, two, zero])
    np.testing.assert_array_equal(got[:, 0], EVEN + zero)
    image, window = odd.reshape(1, 1, 13), unit.reshape(1, 1, 1)
    got, _ = _run("QLinearConv", [image, one, none, window, one, none, two, zero])
    np.testing.assert_array_equal(got[0, 0], EVEN + zero)


def test_halves_of_dynamic_and_of_channels_go_to_even():
    x = np.concatenate([HALVES, [0, 255]]).astype("float32")[6:]
    model = _model("DynamicQuantizeLinear", [x], ("y", "scale", "zero"))
    y = tessera.onnx.load(model)(x)
    assert y[1].item() == 1 and y[2].item() == 0
    np.testing.assert_array_equal(y[0].numpy()[:7], EVEN[6:])
    scale = np.array([0.5, 2], "float32")
    x = np.stack([HALVES * 0.5, HALVES * 2])
    got, _ = _run("QuantizeLinear", [x, scale, np.array([0, 7], "int8")], axis=0)
    np.testing.assert_array_equal(got, [EVEN, EVEN + 7])


def test_integers_of_an_axis_are_numbers_again():
    x, scale = np.array([[-128, 127], [1, 2]], "int8"), np.array([0.5, 0.1], "float32")
    zero = np.array([-128, 127], "int8")
    got, _ = _run("DequantizeLinear", [x, scale, zero], axis=0)
    wanted = (_wide(x, zero[:, None])).astype("float32") * scale[:, None]
    np.testing.assert_array_equal(got, wanted)
    wide = np.array([2**31 - 1, -(2**31), 5], "int32")
    got, _ = _run("DequantizeLinear", [wide, np.float32(0.5).reshape(())])
    np.testing.assert_array_equal(got, wide.astype("float32") * np.float32(0.5))


def test_a_model_of_integers_goes_into_a_file(tmp_path):
    x, weight = _images(("uint8", "uint8"), (6, 5), (3, 2), 1)
    zeros = np.array(128, "uint8"), np.array(7, "uint8")
    inputs = [x, weight, *zeros]
    model = tessera.onnx.load(_model("ConvInteger", inputs, fixed=(1, 2, 3), pads=[0, 1, 1, 0]))
    traced = jit.trace(lambda x: model(x), capture_as_const=True)
    wanted = traced(tessera.Tensor(x, dtype="uint8")).numpy()
    traced.dump(tmp_path / "net.tess", arg_names=["x"])
    got = jit.load(tmp_path / "net.tess")(x=tessera.Tensor(x, dtype="uint8")).numpy()
    np.testing.assert_array_equal(got, wanted)
