"""Layers between DequantizeLinear and QuantizeLinear: sums of integers, rounded once."""

import numpy as np
import onnx
import pytest
import tessera
import tessera.functional as F  # noqa: N812
import tessera.onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from tessera import jit
from tessera.dtype import qint8, quint8

from tests.onnx.test_export import exported

SCALE, WEIGHT_SCALE, RESULT_SCALE = 0.05, 0.02, 0.11
DTYPES = {"uint8": (quint8, 100), "int8": (qint8, 0)}


class Builder:
    """A graph of ONNX, node by node."""

    def __init__(self):
        self.nodes, self.constants, self.inputs = [], [], []

    def constant(self, array):
        """The name of an initializer."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op_type, *inputs, **attributes):
        """The name of a node's one output."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        return name

    def numbers(self, integers, scale, zero, dtype, **attributes):
        """The numbers of integers, an array or a name."""
        name = integers if isinstance(integers, str) else self.constant(integers)
        parameters = self.constant(np.float32(scale)), self.constant(np.asarray(zero, dtype))
        return self.node("DequantizeLinear", name, *parameters, **attributes)

    def given(self, array, scale, zero):
        """The numbers of an input of integers."""
        name, dtype = f"x{len(self.inputs)}", array.dtype.name
        self.inputs.append((name, array))
        return self.numbers(name, scale, zero, dtype)

    def stored(self, name, scale, zero, dtype):
        """Numbers as integers."""
        return self.node("QuantizeLinear", name, self.constant(np.float32(scale)),
                         self.constant(np.asarray(zero, dtype)))  # fmt: skip

    def model(self, *outputs):
        """The ModelProto."""
        types = {name: helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in self.inputs}
        given = [helper.make_tensor_value_info(n, types[n], x.shape) for n, x in self.inputs]
        made = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
        graph = helper.make_graph(self.nodes, "qdq", given, made, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def run(self, *outputs):
        """(what the model gives, eagerly and in a trace; what onnx's reference gives; the operators
        of the trace).
        """
        model = self.model(*outputs)
        loaded = tessera.onnx.load(model)
        tensors = [tessera.Tensor(each, dtype=each.dtype.name) for _, each in self.inputs]
        result = loaded(*tensors).numpy()
        written, (traced,) = exported(lambda *args: loaded(*args), *tensors)
        np.testing.assert_array_equal(traced, result)
        wanted = ReferenceEvaluator(model).run(None, dict(self.inputs))[0]
        return result, wanted, [node.op_type for node in written.graph.node]


def _bytes(dtype, *shape, seed=0):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype)


def _weight(*shape, seed=9):
    return np.random.default_rng(seed).integers(-127, 127, shape, "int8", endpoint=True)


def _tensor(array, dtype):
    """Integers as a tensor of a quantized dtype."""
    return tessera.Tensor(array, dtype=dtype)


def _near(result, wanted):
    """Integers that differ at most where a sum is nearly in the middle of two of them."""
    apart = np.abs(result.astype(int) - wanted.astype(int))
    assert apart.max() <= 1 and (apart > 0).mean() < 0.02
    assert len(np.unique(wanted)) > 10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("is_each", [False, True])
@pytest.mark.parametrize("bias", [None, "int32", "float32"])
def test_a_convolution_is_one_operator_of_bytes(dtype, relu, is_each, bias):
    kind, zero = DTYPES[dtype]
    x, weight = _bytes(dtype, 2, 4, 7, 6), _weight(6, 2, 3, 3)
    scales = np.float32(WEIGHT_SCALE) * (np.arange(1, 7, dtype="float32") if is_each else 1)
    integers = np.arange(-3, 3, dtype="int32") * 300
    numbers = (integers * np.float32(SCALE) * scales).astype("float32")
    g = Builder()
    operands = [g.given(x, SCALE, zero), g.numbers(weight, scales, np.zeros(scales.shape), "int8",
                                                   axis=0)]  # fmt: skip
    if bias == "float32":
        operands.append(g.constant(numbers))
    elif bias:
        of_bias = np.broadcast_to(np.float32(SCALE) * scales, 6)
        operands.append(g.numbers(integers, of_bias, np.zeros(6), "int32", axis=0))
    y = g.node("Conv", *operands, group=2, pads=[1, 1, 1, 1], strides=[2, 1])
    y = g.node("Relu", y) if relu else y
    result, wanted, operators = g.run(g.stored(y, RESULT_SCALE * 6, zero, dtype))
    assert operators.count("ConvInteger") == 1 and not {"Conv", "QuantizeLinear"} & {*operators}
    _near(result, wanted)
    parameters = (zero,) if zero else ()
    of_weight = qint8(scales.tolist(), axis=0) if is_each else qint8(float(scales))
    exact = F.quantized.conv2d(
        _tensor(x, kind(SCALE, *parameters)), _tensor(weight, of_weight),
        None if bias is None else tessera.tensor(numbers.reshape(1, 6, 1, 1)),
        kind(RESULT_SCALE * 6, *parameters), stride=(2, 1), padding=1, groups=2,
        nonlinear_mode="relu" if relu else "identity",
    )  # fmt: skip
    np.testing.assert_array_equal(result, exact.numpy().view(result.dtype))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("is_first", [False, True])
def test_an_addition_behind_a_convolution_is_its_residual(relu, is_first):
    g = Builder()
    y = g.node("Conv", g.given(_bytes("uint8", 1, 3, 5, 5), SCALE, 90),
               g.numbers(_weight(4, 3, 3, 3), WEIGHT_SCALE, 0, "int8"))  # fmt: skip
    other = g.given(_bytes("int8", 1, 4, 3, 3, seed=1), 0.2, 3)
    y = g.node("Add", *((other, y) if is_first else (y, other)))
    y = g.node("Relu", y) if relu else y
    result, wanted, operators = g.run(g.stored(y, 0.5, 128, "uint8"))
    assert "ConvInteger" in operators and "Conv" not in operators
    _near(result, wanted)


def test_a_residual_that_is_repeated_is_added():
    g = Builder()
    y = g.node("Conv", g.given(_bytes("uint8", 2, 3, 5, 5), SCALE, 90),
               g.numbers(_weight(4, 3, 3, 3), WEIGHT_SCALE, 0, "int8"))  # fmt: skip
    y = g.node("Add", y, g.given(_bytes("int8", 1, 4, 1, 1), 0.2, 3))
    result, wanted, operators = g.run(g.stored(y, 0.5, 128, "uint8"))
    assert "ConvInteger" in operators and "Conv" not in operators
    _near(result, wanted)


@pytest.mark.parametrize("sizes", [((9,), (3,)), ((6, 5), (3, 2)), ((4, 3, 5), (2, 3, 2))])
@pytest.mark.parametrize("is_uneven", [False, True])
def test_borders_stand_for_zero(sizes, is_uneven):
    (size, kernel), axes = sizes, len(sizes[0])
    pads = [1] * axes + [int(not is_uneven)] * axes
    g = Builder()
    y = g.node("Conv", g.given(_bytes("uint8", 2, 3, *size), SCALE, 90),
               g.numbers(_weight(4, 3, *kernel), WEIGHT_SCALE, 0, "int8"), pads=pads)  # fmt: skip
    result, wanted, operators = g.run(g.stored(y, 0.5, 128, "uint8"))
    assert "ConvInteger" in operators and "Conv" not in operators
    _near(result, wanted)


@pytest.mark.parametrize("op_type", ["MatMul", "Gemm"])
@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_matrix_product_is_one_of_bytes(op_type, is_turned, is_stored):
    if op_type == "MatMul" and is_turned:
        pytest.skip("MatMul has no transposed operand")
    weight, scales = _weight(30, 6), np.linspace(0.01, 0.05, 6, dtype="float32")
    g = Builder()
    x = g.given(_bytes("uint8", 20, 30), SCALE, 90)
    matrix = weight.T.copy() if is_turned else weight
    axis = 0 if is_turned else 1
    operands = [x, g.numbers(matrix, scales, np.zeros(6), "int8", axis=axis)]
    if op_type == "Gemm":
        operands.append(g.constant(np.linspace(-3, 3, 6, dtype="float32")))
    y = g.node(op_type, *operands, **({"transB": 1} if is_turned else {}))
    if is_stored:
        y = g.stored(g.node("Relu", y), 2.5, 20, "uint8")
    result, wanted, operators = g.run(y)
    assert "MatMulInteger" in operators and not {"MatMul", "Gemm"} & {*operators}
    if is_stored:
        _near(result, wanted)
    else:
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=2e-3)


def test_weights_with_a_zero_point_that_int8_needs_not_are_moved():
    weight = _weight(6, 2, 3, 3).astype(int) + 128
    g = Builder()
    x = g.given(_bytes("uint8", 2, 2, 7, 6), SCALE, 90)
    y = g.node("Conv", x, g.numbers(weight.astype("uint8"), WEIGHT_SCALE, 128, "uint8"))
    result, wanted, operators = g.run(g.stored(y, 0.5, 128, "uint8"))
    assert "ConvInteger" in operators and "Conv" not in operators
    _near(result, wanted)


def _of_channels(g, x):
    scales = np.linspace(0.01, 0.05, 3, dtype="float32")
    return g.numbers(x, scales, np.zeros(3), "uint8", axis=1)


def _plain(g, x):
    return g.numbers(x, SCALE, 90, "uint8")


OTHERS = {  # the numbers of x, those of the weight
    "scales along channels of x": (_of_channels, lambda g, w: g.numbers(w, 0.02, 0, "int8")),
    "a weight beyond int8": (_plain, lambda g, w: g.numbers(w, 0.02, 5, "int8")),
    "a weight of floats": (_plain, lambda g, w: g.constant(w.astype("float32"))),
    "scales along another axis": (
        _plain, lambda g, w: g.numbers(w, np.full(3, 0.02), np.zeros(3), "int8", axis=1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHERS)
def test_other_layers_stay_those_of_floats(case):
    of_x, of_weight = OTHERS[case]
    g, x = Builder(), _bytes("uint8", 2, 3, 7, 6)
    g.inputs.append(("x0", x))
    y = g.node("Conv", of_x(g, "x0"), of_weight(g, _weight(4, 3, 3, 3)))
    result, wanted, operators = g.run(g.stored(y, 1.0, 128, "uint8"))
    assert "Conv" in operators and "ConvInteger" not in operators
    _near(result, wanted)


def test_sums_that_others_read_are_floats_of_integers():
    """A result that a second node reads is float32, whose sums are exact all the same."""
    g = Builder()
    y = g.node("Conv", g.given(_bytes("uint8", 2, 3, 7, 6), SCALE, 90),
               g.numbers(_weight(4, 3, 3, 3), WEIGHT_SCALE, 0, "int8"))  # fmt: skip
    stored = g.numbers(g.stored(y, 0.5, 128, "uint8"), 0.5, 128, "uint8")
    result, wanted, operators = g.run(g.node("Sub", y, stored))
    assert "ConvInteger" in operators and "Conv" not in operators
    np.testing.assert_allclose(result, wanted, atol=0.51)


MOVES = {
    "MaxPool": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]},
    "Flatten": {"axis": 1},
    "Transpose": {"perm": [0, 2, 3, 1]},
    "Identity": {},
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("is_same", [False, True])
def test_integers_that_only_move_are_not_converted(move, is_same):
    g = Builder()
    y = g.node(move, g.given(_bytes("uint8", 2, 3, 7, 6), SCALE, 90), **MOVES[move])
    result, wanted, operators = g.run(g.stored(y, SCALE, 90 if is_same else 91, "uint8"))
    assert ("Div" in operators) is not is_same
    np.testing.assert_array_equal(result, wanted)


def test_a_maximum_has_the_dtype_of_its_elements():
    g = Builder()
    y = g.node("MaxPool", g.given(_bytes("int8", 2, 3, 7, 6), SCALE, 0), kernel_shape=[2, 2])
    result, wanted, _ = g.run(g.stored(y, SCALE, 0, "int8"))
    assert result.dtype == np.int8
    np.testing.assert_array_equal(result, wanted)


def test_a_layer_within_a_branch_reads_values_from_outside():
    g = Builder()
    x = g.given(_bytes("uint8", 1, 3, 7, 6), SCALE, 90)
    weight = g.numbers(_weight(4, 3, 3, 3), WEIGHT_SCALE, 0, "int8")
    inner = Builder()
    inner.node("Conv", x, weight)
    body = helper.make_graph(inner.nodes, "then", [], [
        helper.make_tensor_value_info("v0", TensorProto.FLOAT, None)])  # fmt: skip
    condition = g.constant(np.array(True))
    y = g.node("If", condition, then_branch=body, else_branch=body)
    model = g.model(y)
    result = tessera.onnx.load(model)(tessera.Tensor(g.inputs[0][1], dtype="uint8"))
    wanted = ReferenceEvaluator(model).run(None, dict(g.inputs))[0]
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-5, atol=1e-3)


def test_a_free_batch_goes_into_a_file(tmp_path):
    g = Builder()
    y = g.node("Conv", g.given(_bytes("uint8", 2, 3, 7, 6), SCALE, 90),
               g.numbers(_weight(4, 3, 3, 3), WEIGHT_SCALE, 0, "int8"))  # fmt: skip
    model = tessera.onnx.load(g.model(g.stored(y, 0.5, 128, "uint8")))
    traced = jit.trace(lambda x: model(x), capture_as_const=True)
    x = tessera.Tensor(g.inputs[0][1], dtype="uint8")
    wanted = traced(x).numpy()
    traced.dump(tmp_path / "net.tess", arg_names=["x"])
    np.testing.assert_array_equal(jit.load(tmp_path / "net.tess")(x=x).numpy(), wanted)
