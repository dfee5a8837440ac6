"""Network: load, list, dump; names, metadata and refusals of files."""

import io
import json

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import jit
from tessera.utils import network_node as N  # noqa: N812
from tessera.utils.network import Network, as_oprnode, as_varnode, set_symbolic_shape

from tests.frontends.python.network.graphs import Model, dumped, image, network_of, run, traced_anew
from tests.support.helper import floats, same_bits


@pytest.fixture
def network(tmp_path):
    return network_of(tmp_path, Model().eval().__call__, image())


def test_operators_and_variables_are_listed(network):
    oprs = {opr.name: opr for opr in network.all_oprs}
    assert isinstance(oprs["x"], N.Host2DeviceCopy)
    assert isinstance(oprs["fc.weight"], N.ImmutableTensor)
    assert oprs["fc.weight"].shape == (5, 36) and oprs["fc.weight"].dtype == np.float32
    conv = network.get_opr_by_type(N.ConvolutionForward)
    assert conv.type == "Convolution" and conv.params["strides"] == (1, 1)
    assert conv.location.startswith("graphs.py:") and "(Model.conv)" in conv.location
    assert [var.name for var in conv.inputs] == ["x", "conv.weight"]
    assert conv.outputs[0].shape == (2, 4, 3, 3) and conv.outputs[0].owner is conv
    relu = network.get_opr_by_type(N.Relu)
    assert relu.type == "Elemwise" and relu.params["mode"] == "RELU"
    assert isinstance(relu, N.Elemwise) and repr(relu).endswith("{Elemwise}")
    y = network.get_var_by_name("y")
    assert y.shape == (2, 5) and y.dtype == np.float32 and y.ndim == 2 and y.size == 10
    assert repr(y) == "VarNode('y', float32[2, 5])"
    assert network.dest_vars[0] is y and network.output_names == ["y"]
    assert network.get_var_receive_oprs(network.input_vars[0]) == [conv]
    order = network.get_dep_oprs(y)
    assert order[-1] is y.owner and len(order) == len(network.all_oprs)
    assert set(network.all_vars_dict) >= {"x", "y", "fc.bias"}
    assert list(network.all_oprs_dict) == [opr.name for opr in network.all_oprs]
    assert "inputs=[VarNode('x', float32[2, 3, 5, 5])]" in repr(network)


def test_values_of_parameters(network):
    fc = Model().eval().fc
    found = network.get_opr_by_name("fc.weight")
    assert same_bits(found.numpy(), fc.weight) and same_bits(found.outputs[0].numpy(), fc.weight)
    assert same_bits(N.ImmutableTensor([1.0, 2.0], name="c").numpy(), np.float32([1, 2]))


def test_names_that_a_dump_keeps(network, tmp_path):
    network.get_opr_by_type(N.Relu).name = "hidden"

    def names(**options):
        network.dump(tmp_path / "again.tess", targets=(), **options)
        return {var.name for var in Network.load(tmp_path / "again.tess").all_vars}

    assert {"x", "y"} <= names() and not {"hidden", "fc.weight"} & names()
    assert "hidden" in names(keep_var_name=2) and "hidden" in names(keep_opr_name=True)
    assert "fc.weight" in names(keep_param_name=True)
    network.modify_opr_names(lambda name: f"net.{name}")
    assert {"net.x", "net.y"} <= names()
    network.modify_opr_names("a")
    assert {"a.net.x", "a.net.y"} <= names(keep_opr_priority=True)
    with pytest.raises(TypeError, match="modify_opr_names: the name must be a str, got 3"):
        network.modify_opr_names(lambda _: 3)


def test_streams(network, tmp_path):
    stream = io.BytesIO()
    network.dump(stream, targets=())
    stream.seek(0)
    x = image(seed=1)
    assert same_bits(
        run(Network.load(stream), tmp_path, x=x)["y"], run(network, tmp_path, x=x)["y"]
    )


def test_a_part_by_names(network, tmp_path):
    network.get_opr_by_type(N.Relu).name = "hidden"
    path = tmp_path / "named.tess"
    network.dump(path, keep_var_name=2, targets=())
    part = Network.load(path, outspec=["hidden"])
    x = image(seed=1)
    found = run(part, tmp_path, x=x)
    assert same_bits(found["hidden"], traced_anew(Model().eval().features, x))
    with pytest.raises(ValueError, match="there must be one node with name 'none', got 0"):
        Network.load(path, outspec=["none"])


def test_metadata(network, tmp_path):
    assert network.metadata["graph_modified"] is False
    path, info = tmp_path / "again.tess", {"author": "me", "scores": [1, 2.5, None]}
    network.dump(path, user_info=info, targets=(), enable_nchw88=True)
    assert Network.load(path).metadata == {
        "user_info": info,
        "graph_modified": True,
        "optimized_for_inference": True,
        "enable_nchw88": True,
    }
    network.dump(path, user_info="text", targets=(), optimize_for_inference=False)
    assert Network.load(path).metadata["user_info"] == "text"
    assert not Network.load(path).metadata["optimized_for_inference"]
    network.dump(path, targets=(), enable_metadata=False)
    assert Network.load(path).metadata is None
    with pytest.raises(TypeError, match="dump: user_info must be what JSON knows, got {1, 2}"):
        network.dump(path, user_info={1, 2})


def test_options_that_no_program_has(network, tmp_path):
    y = network.output_vars[0]
    assert network.optimize_for_inference(y, enable_nchw88=True) == [y]
    message = r"optimize_for_inference: options must be among \[.+\], got \['enable_hwcd4'\]"
    with pytest.raises(NotImplementedError, match=message):
        network.dump(tmp_path / "again.tess", enable_hwcd4=True)
    with pytest.raises(NotImplementedError, match=message):
        network.optimize_for_inference([y], enable_hwcd4=True)
    with pytest.raises(NotImplementedError, match="dump: append must be False, got True"):
        network.dump(tmp_path / "again.tess", append=True)


def test_strip_info(network, tmp_path):
    path, info = tmp_path / "again.tess", tmp_path / "strip.json"
    network.dump(path, targets=(), strip_info_file=info)
    first = json.loads(info.read_text())
    assert {"conv2d", "relu", "linear", "softmax"} <= set(first["opr_types"])
    assert first["dtypes"] == ["float32"]
    other = network_of(tmp_path, lambda x: F.argmax(x, 0), tessera.Tensor(floats(3)))
    other.dump(path, targets=(), strip_info_file=str(info), append_json=True)
    both = json.loads(info.read_text())
    assert {"argmax", "relu"} <= set(both["opr_types"]) and both["dtypes"] == ["float32", "int32"]
    stream = io.StringIO()
    other.dump(path, targets=(), strip_info_file=stream)
    assert json.loads(stream.getvalue())["opr_types"] == ["argmax"]


def test_unused_inputs_stay_until_they_go(tmp_path):
    a, b = (tessera.Tensor(floats(3, seed=n)) for n in range(2))
    network = network_of(tmp_path, lambda a, b: a * 2, a, b, arg_names=("a", "b"))
    assert [var.name for var in network.input_vars] == ["a", "b"]
    assert same_bits(run(network, tmp_path, a=a, b=b)["y"], a * 2)


def test_a_function_that_returns_its_argument(tmp_path):
    a = tessera.Tensor(floats(3))
    network = network_of(
        tmp_path, lambda a: (a, a + 1, a), a, arg_names=("a",), output_names=("p", "q", "r")
    )
    assert network.output_names == ["p", "q", "r"]
    results = run(network, tmp_path, a=a)
    assert same_bits(results["p"], a) and same_bits(results["r"], a)


REFUSED = {
    "no output": (lambda net: net.remove_output(*net.output_vars), "must have an output, got none"),
    "two outputs of one name": (
        lambda net: net.add_output(named(F.relu(net.output_vars[0]), "y")),
        "outputs must have different names, got two 'y'",
    ),
    "two inputs of one name": (
        lambda net: net.add_output(net.make_input_node((2,), "float32", "x") + 1),
        "inputs must have different names, got two 'x'",
    ),
}


def named(var, name):
    var.name = name
    return var


@pytest.mark.parametrize("what", list(REFUSED))
def test_what_is_no_program(what, network, tmp_path):
    edit, message = REFUSED[what]
    edit(network)
    with pytest.raises(ValueError, match=f"^dump: .*{message}"):
        network.dump(tmp_path / "again.tess")
    assert not (tmp_path / "again.tess").exists()


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.tess: must be able to open the file"):
        Network.load(tmp_path / "missing.tess")
    path = dumped(tmp_path / "first.tess", lambda x: x * 2, tessera.Tensor(floats(3)))
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match="first.tess: .+, got .+"):
            Network.load(path)


def test_conversions(network):
    y = network.output_vars[0]
    assert as_varnode(y) is y and as_varnode(y.owner) is y and as_varnode([y]) is y
    assert (
        as_oprnode(y) is y.owner and as_oprnode(y.owner) is y.owner and as_oprnode([y]) is y.owner
    )
    with pytest.raises(ValueError, match="as_varnode: there must be one node, got 2"):
        as_varnode([y, y])
    with pytest.raises(TypeError, match="as_oprnode: value must be a VarNode or an OpNode, got 3"):
        as_oprnode(3)
    with pytest.raises(TypeError, match="network: a variable must be a VarNode, got"):
        network._editor.add_output(tessera.Tensor([1.0]))
    assert network.add_dep_oprs(y) == [y] and network.add_dep_oprs() == [y]


def test_a_variable_that_is_no_output_is_logged(network, caplog):
    with caplog.at_level("WARNING", logger="tessera"):
        network.remove_output(network.input_vars[0])
    assert "is no output" in caplog.text and len(network.output_vars) == 1


def test_symbolic_shapes_are_an_option_of_the_process(network):
    assert set_symbolic_shape(True) is False
    try:
        shape = network.output_vars[0].shape
        assert isinstance(shape, N.VarNode) and shape.numpy().tolist() == [2, 5]
        free = network.make_input_node((jit.Dim("n", 1, 4), 3), "float32").shape
        assert isinstance(free, N.VarNode) and free.shape.numpy().tolist() == [2]
    finally:
        set_symbolic_shape(False)
    assert network.output_vars[0].shape == (2, 5)


def test_only_code_that_is_asked_for(network, tmp_path):
    network.dump(tmp_path / "graph.tess", targets=())
    network.dump(tmp_path / "host.tess")
    assert (tmp_path / "graph.tess").stat().st_size < (tmp_path / "host.tess").stat().st_size
    x = image(seed=1)
    program = jit.load(tmp_path / "host.tess", allow_code=True)
    assert same_bits(program(x), jit.load(tmp_path / "graph.tess")(x))
