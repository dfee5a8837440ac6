"""tessera.onnx.load: what a file may be, what is refused, what a call takes."""

import io
import subprocess
import sys

import numpy as np
import onnx
import pytest
import tessera
import tessera.onnx
from onnx import TensorProto, helper

_FLOAT = TensorProto.FLOAT


def _value(name, shape=(2,), element_type=_FLOAT):
    return helper.make_tensor_value_info(name, element_type, shape)


def _model(nodes, inputs=("x",), outputs=("y",), opset=21, initializers=(), **more):
    given = [each if not isinstance(each, str) else _value(each) for each in inputs]
    made = [each if not isinstance(each, str) else _value(each) for each in outputs]
    graph = helper.make_graph(nodes, "test", given, made, initializers)
    imports = [helper.make_opsetid("", opset), *more.pop("imports", [])]
    version = helper.find_min_ir_version_for([helper.make_opsetid("", opset)])
    return helper.make_model(graph, opset_imports=imports, ir_version=version, **more)


def _relu():
    return _model([helper.make_node("Relu", ["x"], ["y"])])


def _tensor(*values):
    return tessera.tensor(values)


def test_a_path_a_stream_and_a_model_are_read(tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(_relu(), path)
    for file in (path, str(path), io.BytesIO(path.read_bytes()), _relu()):
        model = tessera.onnx.load(file)
        assert (model.inputs, model.outputs) == (["x"], ["y"])
        assert model(_tensor(-1.0, 2.0)).tolist() == model(x=[-1.0, 2.0]).tolist() == [0.0, 2.0]
    assert repr(model) == "Model('test', inputs=['x'], outputs=['y'])"


def test_tensors_beside_the_file_are_read(tmp_path):
    weight = onnx.numpy_helper.from_array(np.arange(2, dtype="float32"), "w")
    model = _model([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[weight])
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="data", size_threshold=0)
    assert tessera.onnx.load(path)(_tensor(1.0, 1.0)).tolist() == [1.0, 2.0]


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        tessera.onnx.load(tmp_path / "nothing.onnx")
    (tmp_path / "bytes").write_bytes(b"no model")
    with pytest.raises(ValueError, match="onnx: file must be a valid model, got"):
        tessera.onnx.load(tmp_path / "bytes")
    onnx.save(_model([helper.make_node("Relu", ["z"], ["y"])]), tmp_path / "invalid")
    with pytest.raises(ValueError, match="onnx: file must be a valid model, got"):
        tessera.onnx.load(tmp_path / "invalid")


def test_an_opset_that_is_too_new_is_refused():
    newest = onnx.defs.onnx_opset_version()
    with pytest.raises(ValueError, match=f"onnx: opset must be at most {newest}, got 99"):
        model = _relu()
        model.opset_import[0].version = 99
        tessera.onnx.load(model)


def test_a_call_gives_every_input_once():
    model = tessera.onnx.load(_model([helper.make_node("Add", ["a", "b"], ["y"])], ["a", "b"]))
    x = _tensor(1.0, 2.0)
    assert model(x, b=x).tolist() == [2.0, 4.0]
    for args, kwargs in [((), {"a": x}), ((x, x, x), {}), ((x,), {"a": x}), ((x, x), {"c": x})]:
        with pytest.raises(TypeError, match=r"test: inputs must be \['a', 'b'\], got"):
            model(*args, **kwargs)
    with pytest.raises(TypeError, match="onnx: input 'b' must be float32, got int32"):
        model(x, _tensor(1, 2))


def test_an_initializer_is_the_value_of_its_input():
    weight = onnx.numpy_helper.from_array(np.ones(2, "float32"), "w")
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    model = tessera.onnx.load(_model(nodes, ["x", "w"], initializers=[weight]))
    x = _tensor(1.0, 2.0)
    assert model.inputs == ["x"]
    assert (model(x).tolist(), model(x, w=x).tolist()) == ([2.0, 3.0], [2.0, 4.0])


REFUSED = {
    "operator": (
        helper.make_node("StringConcat", ["x", "x"], ["y"], name="joins"),
        r"operator must be one that Tessera has, got StringConcat in node 'joins' of outputs \['y",
    ),
    "domain": (
        helper.make_node("Binarizer", ["x"], ["y"], name="b", domain="ai.onnx.ml"),
        "operators must be of the default domain, or of a library that is loaded, got "
        "ai.onnx.ml.Binarizer in node 'b' of outputs",
    ),
    "dtype": (
        helper.make_node("Cast", ["x"], ["y"], name="c", to=TensorProto.FLOAT8E4M3FNUZ),
        r"Cast in node 'c' of outputs \['y'\]: dtype must be one that Tessera has, got FLOAT8E4M3F",
    ),
    "attribute": (
        helper.make_node("Constant", [], ["y"], name="k", value_string="s"),
        r"Constant in node 'k' of outputs \['y'\]: value must be a dense tensor of numbers, got",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tessera_cannot_say_is_refused_with_its_node(name):
    node, message = REFUSED[name]
    imports = [helper.make_opsetid("ai.onnx.ml", 4)]
    with pytest.raises(NotImplementedError, match=f"onnx: {message}"):
        tessera.onnx.load(_model([node], imports=imports))(_tensor(1.0, 2.0))


def test_inputs_of_other_dtypes_are_refused():
    text = _value("x", (2,), TensorProto.STRING)
    with pytest.raises(NotImplementedError, match="input 'x': dtype must be one that Tessera has"):
        tessera.onnx.load(_model([helper.make_node("Identity", ["x"], ["y"])], [text]))


def test_an_operator_of_another_opset_is_refused():
    with pytest.raises(ValueError, match="onnx: opset 13 must have Gelu, got it in node"):
        tessera.onnx.load(_model([helper.make_node("Gelu", ["x"], ["y"])], opset=13))


def test_an_error_at_a_call_names_the_node():
    model = tessera.onnx.load(_model([helper.make_node("MatMul", ["x", "x"], ["y"], name="m")]))
    with pytest.raises(ValueError, match="matmul: ") as error:
        model(tessera.functional.ones((2, 3)))
    assert error.value.__notes__ == ["onnx: MatMul in node 'm' of outputs ['y']"]


def test_functions_of_the_model_and_of_onnx_are_put_in_place():
    body = [helper.make_node("Mul", ["a", "a"], ["b"])]
    function = helper.make_function(
        "own", "Square", ["a"], ["b"], body, [helper.make_opsetid("", 21)]
    )
    nodes = [helper.make_node("Square", ["x"], ["y"], domain="own")]
    model = _model(nodes, imports=[helper.make_opsetid("own", 1)], functions=[function])
    assert tessera.onnx.load(model)(_tensor(3.0, 4.0)).tolist() == [9.0, 16.0]


def _branch(name, op_type):
    return helper.make_graph([helper.make_node(op_type, ["x"], ["r"])], name, [], [_value("r")])


def test_a_branch_sees_outer_values():
    nodes = [
        helper.make_node(
            "If", ["c"], ["y"], then_branch=_branch("t", "Neg"), else_branch=_branch("e", "Abs")
        )
    ]
    inputs = [_value("c", (), TensorProto.BOOL), "x"]
    model = tessera.onnx.load(_model(nodes, inputs))
    traced = tessera.jit.trace(model)
    x = _tensor(-1.0, 2.0)
    for call in (model, traced, traced):
        assert call(tessera.tensor(True), x).tolist() == [1.0, -2.0]
        assert call(tessera.tensor(False), x).tolist() == [1.0, 2.0]


def test_a_loop_without_trips_stacks_nothing():
    trip = _value("i", (), TensorProto.INT64), _value("on", (), TensorProto.BOOL), _value("r")
    body = [helper.make_node("Identity", ["on"], ["more"]), helper.make_node("Neg", ["r"], ["n"])]
    made = _value("more", (), TensorProto.BOOL), _value("n"), _value("n")
    graph = helper.make_graph(body, "body", trip, made)
    most = helper.make_tensor("most", TensorProto.INT64, (), [3])
    loop = helper.make_node("Loop", ["most", "c", "x"], ["last", "y"], body=graph)
    inputs = [_value("c", (), TensorProto.BOOL), "x"]
    model = tessera.onnx.load(
        _model([loop], inputs, ["last", _value("y", (3, 2))], initializers=[most])
    )
    last, stacked = model(tessera.tensor(False), _tensor(1.0, 2.0))
    assert last.tolist() == [1.0, 2.0] and stacked.shape == (0, 2)
    last, stacked = model(tessera.tensor(True), _tensor(1.0, 2.0))
    assert last.tolist() == [-1.0, -2.0] and stacked.shape == (3, 2)


def _run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_the_package_is_imported_when_it_is_asked_for():
    code = "import sys, tessera; assert 'onnx' not in sys.modules; tessera.onnx.load"
    assert _run(code).returncode == 0


def test_without_the_package_the_remedy_is_named():
    code = "import sys; sys.modules['onnx'] = None; import tessera; tessera.onnx"
    said = _run(code).stderr
    assert "tessera.onnx: the package onnx must be installed (pip install tessera[onnx])" in said
