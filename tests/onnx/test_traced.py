"""Models within traced functions: the same bits, and programs that files hold."""

import subprocess

import numpy as np
import onnx
import pytest
import tessera
import tessera.onnx
from onnx import TensorProto, helper
from tessera import jit

from tests.onnx import node_cases
from tests.support.helper import flat, same_bits


def _one_of_each_operator():
    """The first case of each operator that passes, by the names of the operators."""
    found, bad = {}, node_cases.listed()
    for case in node_cases.all_cases().values():
        key = " ".join(sorted({node.op_type for node in case.model.graph.node}))
        random = key.startswith(("Random", "Bernoulli"))
        if case.name not in bad and not random and "training" not in case.name:
            found.setdefault(key, case)
    return list(found.values())


# An argument holds what the operator takes as a number or decides by, which no trace repeats.
_READS_VALUES = {
    "test_affine_grid_2d_expanded",
    "test_blackmanwindow_expanded",
    "test_loop11",
    "test_melweightmatrix",
    "test_nonmaxsuppression_suppress_by_IOU",
    "test_onehot_without_axis",
    "test_range_float_type_positive_delta",
    "test_range_float_type_positive_delta_expanded",
    "test_resize_upsample_scales_nearest",
    "test_upsample_nearest",
}
_REFUSALS = "must not look at the value of a tensor|both branches must return the same dtypes"


def _are_tensors(values):
    return all(isinstance(value, tessera.Tensor) for value in values)


@pytest.mark.parametrize("case", _one_of_each_operator(), ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore:trace")
def test_a_traced_model_gives_the_bits_of_the_eager_one(case):
    model = tessera.onnx.load(case.model)
    inputs = [node_cases.as_value(value) for value in case.data_sets[0][0]]
    if not _are_tensors(inputs):
        pytest.skip("sequences are Python lists, which are no arguments of a trace")
    traced = jit.trace(model)
    eager = flat(model(*inputs))
    if case.name in _READS_VALUES:
        with pytest.raises(ValueError, match=_REFUSALS):
            jit.trace(model, symbolic=True)(*inputs)
        return
    for _ in range(2):
        assert same_bits(flat(traced(*inputs)), eager)


def _numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def _nodes(*rows, **constants):
    """(nodes, constants): each row is an operator, its inputs, its output and its attributes."""
    made = [helper.make_node(op, i.split(), o.split(), **more) for op, i, o, more in rows]
    return made, constants


# Models of one input [n, 4, 6, 8], whose output has n first.
FREE = {
    "shapes": _nodes(
        ("Shape", "x", "shape", {}),
        ("Gather", "shape zero", "n", {"axis": 0}),
        ("Concat", "n minus", "target", {"axis": 0}),
        ("Reshape", "x target", "flat", {}),
        ("MatMul", "flat w", "scores", {}),
        ("Softmax", "scores", "y", {"axis": 1}),
        zero=np.array([0]),
        minus=np.array([-1]),
        w=_numbers(192, 5),
    ),
    "images": _nodes(
        ("Conv", "x w b", "c", {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        ("BatchNormalization", "c one b one one", "m", {}),
        ("Relu", "m", "r", {}),
        ("MaxPool", "r", "p", {"kernel_shape": [2, 2], "ceil_mode": 1, "strides": [2, 2]}),
        ("Resize", "p scales scales", "s", {"mode": "linear"}),
        ("GlobalAveragePool", "s", "g", {}),
        ("Flatten", "g", "y", {}),
        w=_numbers(3, 4, 3, 3),
        b=_numbers(3),
        one=np.ones(3, "float32"),
        scales=np.array([1, 1, 2, 2], "float32"),
    ),
    "sequences": _nodes(
        ("ReduceMax", "x axis", "part", {"keepdims": 1}),
        ("Squeeze", "part axis", "t", {}),
        ("Transpose", "t", "u", {"perm": [1, 0, 2]}),
        ("LSTM", "u w r", "o h c", {"hidden_size": 5}),
        ("Transpose", "h", "v", {"perm": [1, 0, 2]}),
        ("Squeeze", "v axis", "y", {}),
        w=_numbers(1, 20, 8),
        r=_numbers(1, 20, 5),
        axis=np.array([1]),
    ),
    "parts": _nodes(
        ("Split", "x", "a b", {"axis": 1, "num_outputs": 2}),
        ("Slice", "a from to", "c", {}),
        ("Pad", "c pads", "d", {"mode": "reflect"}),
        ("Concat", "d b", "e", {"axis": 1}),
        ("ReduceMean", "e axes", "y", {"keepdims": 0}),
        axes=np.array([2, 3]),
        **{"from": np.array([0, 0, 1]), "to": np.array([9999, 2, 5])},
        pads=np.array([0, 0, 1, 0, 0, 0, 1, 0]),
    ),
    "attention": _nodes(
        ("Attention", "x x x", "a", {"is_causal": 1}),
        ("LayerNormalization", "a s", "y", {"axis": -1}),
        s=_numbers(8),
    ),
    "expanded": _nodes(
        ("Shape", "x", "shape", {"start": 0, "end": 1}),
        ("Concat", "shape rest", "target", {"axis": 0}),
        ("ConstantOfShape", "target", "zeros", {}),
        ("Expand", "w target", "wide", {}),
        ("Add", "zeros wide", "sum", {}),
        ("Gemm", "sum k", "y", {"transB": 1}),
        rest=np.array([3]),
        w=_numbers(1, 3),
        k=_numbers(2, 3),
    ),
}


def _model(name):
    nodes, constants = FREE[name]
    initializers = [onnx.numpy_helper.from_array(a, each) for each, a in constants.items()]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", 4, 6, 8))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, name, [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)


def _input(n):
    return tessera.tensor(np.random.default_rng(n).standard_normal((n, 4, 6, 8)).astype("float32"))


@pytest.mark.parametrize("name", FREE)
def test_a_traced_model_is_dumped_with_a_free_batch(name, tmp_path):
    model = tessera.onnx.load(_model(name))
    traced = jit.trace(model, capture_as_const=True)
    traced(_input(3))
    batch = jit.Dim("n", 2, 100)
    traced.dump(tmp_path / "net.tess", arg_names=["x"], output_names=["y"], dims={"x": {0: batch}})
    program = jit.load(tmp_path / "net.tess")
    for n in (2, 3, 7):
        assert same_bits(program(x=_input(n)), model(_input(n)))


def test_gradients_go_through_a_model():
    model = tessera.onnx.load(_model("images"))
    x = _input(2)
    gradient = tessera.autodiff.grad(lambda x: (model(x) ** 2).sum())(x)
    assert gradient.shape == x.shape and (gradient.numpy() != 0).any()


def test_the_command_line_runs_a_model(tmp_path):
    model, x = tessera.onnx.load(_model("shapes")), _input(3)
    traced = jit.trace(model, capture_as_const=True)
    traced(x)
    traced.dump(tmp_path / "net.tess", arg_names=["x"], output_names=["y"])
    np.save(tmp_path / "x.npy", x.numpy())
    files = ["--input", f"x={tmp_path}/x.npy", "--output", f"y={tmp_path}/y.npy"]
    command = ["tools/tess-run", str(tmp_path / "net.tess"), *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert same_bits(np.load(tmp_path / "y.npy"), model(x))
