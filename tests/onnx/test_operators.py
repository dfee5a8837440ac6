"""Operators of which ONNX ships no case: beside its reference, or by what they are."""

import re
from pathlib import Path

import numpy as np
import onnx
import onnx.defs
import pytest
import tessera
import tessera.onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from tests.onnx import node_cases


def _model(node, inputs, opset, output=None):
    values = []
    for name, value in zip(node.input, inputs, strict=True):
        if isinstance(value, list):
            element = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
            made = helper.make_sequence_type_proto(element)
            values.append(helper.make_value_info(name, made))
        else:
            element = helper.np_dtype_to_tensor_dtype(value.dtype)
            values.append(helper.make_tensor_value_info(name, element, value.shape))
    outputs = [output or helper.make_value_info(name, onnx.TypeProto()) for name in node.output]
    graph = helper.make_graph([node], "test", values, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def _random(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def _node(op_type, count, **attributes):
    return helper.make_node(op_type, [f"x{i}" for i in range(count)], ["y"], **attributes)


_A, _B = _random(2, 3), _random(2, 3) + 1
REFERENCE = {
    "ConcatFromSequence": (_node("ConcatFromSequence", 1, axis=1), [[_A, _B]]),
    "ConcatFromSequence, new axis": (
        _node("ConcatFromSequence", 1, axis=1, new_axis=1),
        [[_A, _B]],
    ),
    "SequenceAt": (_node("SequenceAt", 2), [[_A, _B], np.array(-1)]),
    "SequenceConstruct": (_node("SequenceConstruct", 2), [_A, _B]),
    "SequenceErase": (_node("SequenceErase", 1), [[_A, _B]]),
    "SequenceErase, the first": (_node("SequenceErase", 2), [[_A, _B], np.array(0)]),
    "Softmax": (_node("Softmax", 1, axis=1), [_random(2, 3, 4)]),
    "Clip, one limit": (
        helper.make_node("Clip", ["x0", "", "x1"], ["y"]),
        [_A, np.array(0.5, "float32")],
    ),
    "Split": (helper.make_node("Split", ["x0"], ["y", "z"], axis=1, num_outputs=2), [_A]),
    "Selu": (_node("Selu", 1), [_A]),
    "Flatten": (_node("Flatten", 1, axis=-1), [_random(2, 3, 4)]),
}


# Of older opsets the forms that later ones changed.
OLDER = {
    (13, "ReduceMean"): (_node("ReduceMean", 1, axes=[1], keepdims=0), [_A]),
    (13, "ReduceMax"): (_node("ReduceMax", 1, axes=[-1]), [_A]),
    (13, "ReduceL2"): (_node("ReduceL2", 1, axes=[0]), [_A]),
    (13, "ReduceLogSumExp"): (_node("ReduceLogSumExp", 1), [_A]),
    (13, "ReduceSum"): (_node("ReduceSum", 2, keepdims=0), [_A, np.array([1])]),
    (13, "Split"): (
        helper.make_node("Split", ["x0", "x1"], ["y", "z"], axis=1),
        [_A, np.array([1, 2])],
    ),
    (13, "Pad"): (_node("Pad", 2, mode="edge"), [_A, np.array([0, 1, 1, 0])]),
    (13, "Clip"): (_node("Clip", 3), [_A, np.array(-0.5, "f4"), np.array(0.5, "f4")]),
    (13, "Hardmax"): (_node("Hardmax", 1), [_A]),
    (15, "BatchNormalization"): (
        _node("BatchNormalization", 5),
        [_random(2, 3, 4), *[_random(3) ** 2] * 4],
    ),
    (16, "ScatterElements"): (
        _node("ScatterElements", 3, axis=1, reduction="add"),
        [_A, np.array([[1, 1], [0, 2]]), _random(2, 2)],
    ),
    (16, "LeakyRelu"): (_node("LeakyRelu", 1), [_A]),
    (17, "LayerNormalization"): (_node("LayerNormalization", 2), [_A, _random(3)]),
    (18, "Mish"): (_node("Mish", 1), [_A]),
}


def _as_reference(node, inputs, opset):
    present = helper.make_node(node.op_type, [each for each in node.input if each], node.output)
    model = _model(present, inputs, opset)
    model.graph.node[0].CopyFrom(node)
    names = [value.name for value in model.graph.input]
    expected = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
    results = node_cases.results_of(tessera.onnx.load(model), inputs)
    for got, wanted in zip(results, expected, strict=False):
        _check(got, wanted)


@pytest.mark.parametrize("name", REFERENCE)
def test_as_the_reference(name):
    _as_reference(*REFERENCE[name], 21)


@pytest.mark.parametrize(("opset", "name"), OLDER)
def test_older_forms_are_as_the_reference_s(opset, name):
    _as_reference(*OLDER[opset, name], opset)


def _check(got, wanted):
    if isinstance(wanted, list):
        for one, other in zip(got, wanted, strict=True):
            _check(one, other)
        return
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_global_lp_pool():
    x = _random(2, 3, 4, 5)
    model = tessera.onnx.load(_model(_node("GlobalLpPool", 1, p=3), [x], 21))
    expected = (np.abs(x) ** 3).sum((2, 3), keepdims=True) ** (1 / 3)
    np.testing.assert_allclose(model(x).numpy(), expected, rtol=1e-5)


def test_max_roi_pool():
    x = _random(1, 2, 6, 6)
    rois = np.array([[0, 1, 2, 4, 5]], "float32")
    node = _node("MaxRoiPool", 2, pooled_shape=[2, 2])
    expected = x[:, :, 2:6, 1:5].reshape(1, 2, 2, 2, 2, 2).max((3, 5))
    np.testing.assert_array_equal(
        tessera.onnx.load(_model(node, [x, rois], 21))(x, rois).numpy(), expected
    )


RANDOM = {
    "RandomUniform": ({"shape": [50, 40], "low": 2.0, "high": 4.0}, 0, 3.0, 2 / 12**0.5),
    "RandomUniformLike": ({"low": -1.0, "high": 1.0}, 1, 0.0, 2 / 12**0.5),
    "RandomNormal": ({"shape": [50, 40], "mean": 1.0, "scale": 2.0}, 0, 1.0, 2.0),
    "RandomNormalLike": ({"mean": -1.0, "scale": 0.5}, 1, -1.0, 0.5),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_have_their_moments(name):
    attributes, count, mean, deviation = RANDOM[name]
    inputs = [np.zeros((50, 40), "float32")] * count
    tessera.seed(1)
    model = tessera.onnx.load(_model(_node(name, count, **attributes), inputs, 21))
    drawn = model(*inputs).numpy()
    assert drawn.shape == (50, 40) and drawn.dtype == np.float32
    assert abs(drawn.mean() - mean) < 5 * deviation / 2000**0.5
    assert abs(drawn.std() / deviation - 1) < 0.1


def test_multinomial_draws_classes_by_their_logarithms():
    x = np.log(np.array([[0.1, 0.0001, 0.8999], [1.0, 1.0, 1.0]], "float32"))
    tessera.seed(1)
    model = tessera.onnx.load(_model(_node("Multinomial", 1, sample_size=3000), [x], 21))
    drawn = model(x).numpy()
    assert drawn.shape == (2, 3000) and drawn.dtype == np.int32
    shares = [np.bincount(row, minlength=3) / 3000 for row in drawn]
    np.testing.assert_allclose(shares, [[0.1, 0, 0.9], [1 / 3] * 3], atol=0.05)


def test_optional_is_its_value():
    inner = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    output = helper.make_value_info("y", inner)
    model = tessera.onnx.load(_model(_node("Optional", 1), [_A], 21, output))
    assert model(_A).tolist() == _A.tolist()


def test_wrong_activations_are_refused():
    inputs = [_random(2, 1, 3), _random(1, 4, 3), _random(1, 4, 4)]
    node = _node("RNN", 3, activations=["Sine"], hidden_size=4)
    with pytest.raises(
        NotImplementedError, match="RNN in node .*: activations must be of .*Sine|sine"
    ):
        tessera.onnx.load(_model(node, inputs, 21))(*inputs)


def test_names_of_records_are_checked_against_all_operators_of_onnx():
    """The list that the generator knows is that of ONNX's own domain."""
    text = Path("ops/records/Names.td").read_text()
    listed = re.findall('"([^"]*)"', text.partition("def OnnxOperators")[2])
    own = {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    assert listed == sorted(own)
