"""Providers: models of ONNX as operators, and parts of Networks that another engine runs."""

import io
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
from tessera.provider import Provider, Signature, Subgraph, Value, partition
from tessera.utils.network import Network

onnx = pytest.importorskip("onnx", reason="models of ONNX are written by the package onnx")
pytest.importorskip("onnxruntime", reason="the provider needs the package onnxruntime")

from onnx import TensorProto, helper  # noqa: E402

sys.path.append(str(Path(__file__).parents[2] / "frontends/examples"))
from resnet import BasicBlock, ResNet  # noqa: E402

rng = np.random.default_rng(3)
ort = ts.provider.onnx_runtime


def model_of(nodes, inputs, outputs, constants=(), opset=17):
    """A ModelProto; inputs and outputs are (name, element type, shape)."""
    infos = [[helper.make_tensor_value_info(*each) for each in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "model", *infos, list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def relu_of(element_type=TensorProto.FLOAT, shape=("N",)):
    value = element_type, list(shape)
    return model_of([helper.make_node("Relu", ["x"], ["y"])], [("x", *value)], [("y", *value)])


def network_of(function, *inputs):
    """(the Network of a call, what it gave)."""
    traced = ts.jit.trace(function, capture_as_const=True)
    results = traced(*inputs)
    stream = io.BytesIO()
    traced.dump(stream)
    stream.seek(0)
    return Network.load(stream), results


def run(network, *inputs):
    """The outputs of a Network that is dumped and loaded, as arrays."""
    with tempfile.TemporaryDirectory() as folder:
        network.dump(f"{folder}/network.tess")
        results = ts.jit.load(f"{folder}/network.tess")(*inputs)
    return [each.numpy() for each in (results if isinstance(results, tuple) else (results,))]


def operators(network):
    return [node.opdef.name for node in network.all_oprs if node.opdef is not None]


@pytest.fixture(scope="module")
def resnet():
    """(a trace of ResNet-18 with random weights, its input, its output)."""
    network = ResNet(BasicBlock, (2, 2, 2, 2), num_classes=10, width=16).eval()
    traced = ts.jit.trace(lambda x: network(x), capture_as_const=True)
    x = ts.tensor(rng.normal(size=(1, 3, 32, 32)).astype(np.float32))
    return traced, x, traced(x).numpy()


def test_whole_model(resnet, tmp_path):
    traced, x, expected = resnet
    ts.onnx.export(traced, tmp_path / "resnet.onnx", arg_names=["x"], output_names=["y"])
    model = ort.load(tmp_path / "resnet.onnx")
    assert (model.inputs, model.outputs, model.__name__) == (["x"], ["y"], "resnet")
    np.testing.assert_allclose(model(x).numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(model(x=x.numpy()).numpy(), model(x).numpy())
    step = ts.jit.trace(lambda x: F.relu(model(x * 1)) + 1, capture_as_const=True)
    for _ in range(2):
        np.testing.assert_allclose(step(x).numpy(), np.maximum(expected, 0) + 1, rtol=1e-4)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again(x).numpy(), model(x).numpy())


def test_whole_network_is_one_part(resnet, tmp_path):
    traced, x, expected = resnet
    traced.dump(tmp_path / "resnet.tess", arg_names=["x"], output_names=["y"])
    network = partition(tmp_path / "resnet.tess", ort)
    assert operators(network) == ["onnx_runtime.program1"]
    assert network.output_names == ["y"]
    network.dump(tmp_path / "parts.tess")
    found = ts.jit.load(tmp_path / "parts.tess")(x=x)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-5)
    np.save(tmp_path / "x.npy", x.numpy())
    script = (
        "import sys, numpy as np, tessera as ts, tessera.provider\n"
        "x, y = np.load(sys.argv[2]), ts.jit.load(sys.argv[1])\n"
        "np.save(sys.argv[3], y(x=ts.tensor(x)).numpy())"
    )
    files = [tmp_path / name for name in ("parts.tess", "x.npy", "y.npy")]
    subprocess.run([sys.executable, "-c", script, *files], check=True)  # a file carries the model
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), found.numpy())
    done = subprocess.run(
        [os.environ["TESS_RUN"], files[0], "--input", f"x={files[1]}"], capture_output=True
    )
    assert done.returncode and b"library onnx_runtime" in done.stderr


def mixed(x):
    """Two runs of convolutions around an operator that stays Tessera's."""
    weight = ts.tensor(np.random.default_rng(5).normal(size=(4, 4, 3, 3)).astype(np.float32))
    y = F.relu(F.conv2d(x, weight, padding=1))
    y = F.cumsum(y, axis=3)
    z = F.relu(F.conv2d(y, weight, padding=1)) + y
    return z, z.mean(axis=1)


def test_two_parts():
    x = ts.tensor(rng.normal(size=(2, 4, 6, 6)).astype(np.float32))
    network, expected = network_of(mixed, x)
    network = partition(network, ort, lambda node: node.opdef.name != "Cumsum")
    assert operators(network) == ["onnx_runtime.program1", "Cumsum", "onnx_runtime.program2"]
    for found, wanted in zip(run(network, x), expected, strict=True):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-4, atol=1e-4)


def test_parts_are_convex():
    """A part may not hold both ends of a path that leaves it."""

    def diamond(x):
        y = F.exp(x)
        return F.relu(y) + F.cumsum(y, axis=0)

    x = ts.tensor(rng.normal(size=(3, 4)).astype(np.float32))
    network, expected = network_of(diamond, x)
    partition(network, ort, lambda node: node.opdef.name != "Cumsum")
    parts = [name for name in operators(network) if name != "Cumsum"]
    assert sorted(parts) == ["onnx_runtime.program1", "onnx_runtime.program2"]
    np.testing.assert_allclose(run(network, x)[0], expected.numpy(), rtol=1e-6)


def test_predicate_and_operators_that_it_does_not_know():
    x = ts.tensor(rng.normal(size=(3, 4)).astype(np.float32))
    network, expected = network_of(lambda x: F.exp(x) * 2, x)
    partition(network, ort, lambda node: False)
    assert operators(network) == ["Exp", "Mul"]

    @ts.custom_op("provider_tests::twice", infer=lambda x: x)
    def twice(x):
        return 2 * x

    network, expected = network_of(lambda x: twice(F.exp(x)) + 1, x)
    partition(network, ort)
    kinds = ["onnx_runtime.program1", "provider_tests.twice", "onnx_runtime.program1"]
    assert operators(network) == kinds
    np.testing.assert_allclose(run(network, x)[0], expected.numpy(), rtol=1e-6)


def test_random_numbers_and_loops_stay():
    x = ts.tensor(rng.normal(size=(3, 4)).astype(np.float32))
    network, _ = network_of(lambda x: F.relu(F.dropout(x, 0.5, training=True)), x)
    names = operators(partition(network, ort))
    assert "Dropout" in names and "onnx_runtime.program1" in names

    def loop(x):
        return F.scan(lambda carry, each: (carry + each, carry), F.zeros((4,)), x)[0] * 2

    network, expected = network_of(loop, x)
    assert operators(partition(network, ort))[-1] == "onnx_runtime.program1"
    np.testing.assert_allclose(run(network, x)[0], expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int32", "int64", "bool", "uint8"]
)
def test_dtypes(dtype):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    node = helper.make_node("Concat", ["x", "x"], ["y"], axis=0)
    model = ort.load(model_of([node], [("x", kind, ["N", 2])], [("y", kind, ["M", 2])]))
    array = np.array([[0, 1], [1, 0], [1, 1]], dtype)
    for _ in range(2):
        found = model(ts.tensor(array, dtype=dtype))
        assert found.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(found.numpy(), np.concatenate([array, array]))


def test_several_inputs_and_outputs():
    nodes = [
        helper.make_node("Add", ["a", "b"], ["s"]),
        helper.make_node("Split", ["s"], ["u", "v"], axis=1, num_outputs=2),
        helper.make_node("ArgMax", ["s"], ["i"], axis=0, keepdims=0),
    ]
    inputs = [(name, TensorProto.FLOAT, ["N", 4]) for name in "ab"]
    outputs = [("u", 1, None), ("v", 1, None), ("i", TensorProto.INT64, None)]
    model = ort.load(model_of(nodes, inputs, outputs, opset=18))
    a, b = (rng.normal(size=(3, 4)).astype(np.float32) for _ in range(2))
    u, v, i = model(ts.tensor(a), b=ts.tensor(b))
    np.testing.assert_array_equal(np.concatenate([u.numpy(), v.numpy()], 1), a + b)
    np.testing.assert_array_equal(i.numpy(), (a + b).argmax(0))
    assert i.dtype == np.int64
    strided = ts.tensor(np.concatenate([a, a], 1))[:, ::2]
    np.testing.assert_array_equal(model(strided, b)[0].numpy(), strided.numpy()[:, :2] + b[:, :2])


def test_another_device():
    model = ort.load(relu_of(shape=("N",)))
    x = ts.tensor([-1.0, 2.0], device="sim0")
    for function in (model, ts.jit.trace(model)):
        for _ in range(2):
            found = function(x)
            assert found.device == x.device and found.tolist() == [0, 2]


def test_empty_sizes():
    model = ort.load(relu_of(shape=("N", 3)))
    for count in (0, 2, 0):
        assert model(F.ones((count, 3))).shape == (count, 3)
    step = ts.jit.trace(lambda x: model(x) + 1, capture_as_const=True)
    for _ in range(2):
        assert step(F.ones((0, 3))).shape == (0, 3)


def test_a_model_without_inputs():
    value = helper.make_tensor("value", TensorProto.FLOAT, [2], [1.0, 2.0])
    node = helper.make_node("Constant", [], ["y"], value=value)
    assert ort.load(model_of([node], [], [("y", 1, [2])]))().tolist() == [1, 2]


def test_missing_and_damaged_models(tmp_path):
    with pytest.raises(FileNotFoundError):
        ort.load(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    for bad in (tmp_path / "bad.onnx", b"no model", relu_of().SerializeToString()[:-9]):
        with pytest.raises(ValueError, match="onnx_runtime: model must be "):
            ort.load(bad)
    with pytest.raises(TypeError, match="model must be a path, bytes or an onnx.ModelProto, got"):
        ort.load(3)
    node = helper.make_node("NoSuchOperator", ["x"], ["y"])
    with pytest.raises(NotImplementedError, match="must be one that ONNX Runtime runs, got"):
        ort.load(model_of([node], [("x", 1, [2])], [("y", 1, [2])]))
    with pytest.raises(NotImplementedError, match=r"'x' must be a tensor of .*tensor\(string\)"):
        identity = helper.make_node("Identity", ["x"], ["y"])
        ort.load(model_of([identity], [("x", 8, [2])], [("y", 8, [2])]))


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"package onnxruntime must be .*tessera\[provider\]"):
        ort.load(relu_of())


def test_wrong_inputs():
    model = ort.load(relu_of(shape=("N", 3)))
    with pytest.raises(ValueError, match=r"input 'x' must have shape \['N', 3\], got \[2, 4\]"):
        model(F.ones((2, 4)))
    with pytest.raises(TypeError, match="input 'x' must be float32, got int32"):
        model(ts.tensor([[1, 2, 3]]))
    for args, kwargs in (((), {}), ((1, 2), {}), ((), {"z": 1}), ((1,), {"x": 1})):
        with pytest.raises(TypeError, match=r"inputs must be \['x'\], got"):
            model(*args, **kwargs)
    with pytest.raises((ValueError, RuntimeError), match="must have dtypes and ranks"):
        ts.ops.onnx_runtime.program1(
            ts.tensor([0], dtype="uint8"), [F.ones(2)], signature="int32[2]->int32[2]", digest="0"
        ).numpy()
    step = ts.jit.trace(lambda x: model(x))
    with pytest.raises((ValueError, RuntimeError), match=r"must have shape"):
        step(F.ones((2, 4))).numpy()


def test_sizes_must_follow_from_those_of_inputs():
    node = helper.make_node("NonZero", ["x"], ["y"])
    model = ort.load(model_of([node], [("x", 1, ["N"])], [("y", TensorProto.INT64, None)]))
    with pytest.raises((ValueError, RuntimeError), match="sizes of outputs must follow from"):
        model(F.ones((3,))).numpy()


def test_free_sizes():
    """A model takes every size in a trace; operators of free sizes stay Tessera's."""
    model = ort.load(relu_of(shape=("N", 3)))
    step = ts.jit.trace(lambda x: model(x * 2) + 1, capture_as_const=True)
    for count in (2, 5, 7, 2):
        assert step(F.ones((count, 3))).tolist() == [[3.0] * 3] * count
    traced = ts.jit.trace(lambda x: F.exp(x) * 2, capture_as_const=True)
    traced(F.ones((2, 3)))
    stream = io.BytesIO()
    traced.dump(stream, arg_names=["x"], dims={"x": {0: ts.jit.Dim("n")}})
    stream.seek(0)
    network = partition(stream, ort)
    assert operators(network) == ["Exp", "Mul"]
    nodes = [node for node in network.all_oprs if node.opdef is not None]
    with pytest.raises(ValueError, match="provider: shapes must be numbers, got VarNode"):
        Subgraph(nodes).to_onnx(17)


def test_partition_takes_networks_and_files():
    with pytest.raises(TypeError, match="network must be a Network or a file, got int"):
        partition(3, ort)
    with pytest.raises(FileNotFoundError):
        partition("no such file.tess", ort)


class Numpy(Provider):
    """An engine in NumPy that knows two operators; its program lists them."""

    name = "numpy_engine"
    known = {"Exp": np.exp, "Neg": np.negative}

    def claims(self, node):
        return node.opdef.name in self.known

    def compile(self, subgraph):
        if len(subgraph.inputs) != 1 or len(subgraph.outputs) != 1:
            raise NotImplementedError("numpy_engine: parts must be chains, got another")
        sizes = ",".join(map(str, subgraph.inputs[0].shape))
        names = [node.opdef.name for node in subgraph.nodes]
        return f"{sizes};{','.join(names)}".encode()

    def open(self, program):
        sizes, names = program.decode().split(";")
        return tuple(map(int, sizes.split(","))), names.split(",")

    def signature(self, executable):
        value = Value("x", "float32", executable[0])
        return Signature((value,), (value._replace(name="y"),))

    def run(self, executable, inputs, outputs):
        value = inputs[0]
        for name in executable[1]:
            value = self.known[name](value)
        outputs[0][...] = value


def test_another_provider():
    engine = Numpy()
    x = ts.tensor(rng.normal(size=(3, 4)).astype(np.float32))
    network, expected = network_of(lambda x: F.exp(-F.relu(F.exp(-x))), x)
    partition(network, engine)
    assert operators(network) == ["numpy_engine.program1", "Relu", "numpy_engine.program1"]
    np.testing.assert_allclose(run(network, x)[0], expected.numpy(), rtol=1e-6)

    def fork(x):
        y = F.exp(x)
        return y, -y

    network, _ = network_of(fork, x)
    with pytest.raises(NotImplementedError, match="parts must be chains"):
        partition(network, engine)
    network, _ = network_of(lambda x: -x, x)
    with pytest.raises(ValueError, match="provider: names must differ, got 'numpy_engine' twice"):
        partition(network, Numpy())


def test_contract_must_be_given():
    provider = Provider()
    for call in (
        lambda: provider.claims(None),
        lambda: provider.compile(None),
        lambda: provider.open(b""),
        lambda: provider.signature(None),
        lambda: provider.infer(None, []),
        lambda: provider.run(None, [], []),
    ):
        with pytest.raises(NotImplementedError, match="Provider: .* must be given, got "):
            call()
    with pytest.raises(ValueError, match="provider: signature must be that of a program, got 'x'"):
        Signature.parse("x")


def test_subgraph_computes():
    network, _ = network_of(lambda x: F.exp(x) * 2, F.ones((2,)))
    nodes = [node for node in network.all_oprs if node.opdef is not None]
    part = Subgraph(nodes, [nodes[-1].outputs[0]])
    assert len(part.inputs) == len(part.constants) == 1
    np.testing.assert_allclose(part(F.ones((2,)))[0].numpy(), np.exp([1, 1]) * 2, rtol=1e-6)


@pytest.mark.parametrize(
    "name",
    ["extern_opr_subgraph", "tensorrt_runtime_opr", "cambricon_runtime_opr", "atlas_runtime_opr",
     "magicmind_runtime_opr"],
)  # fmt: skip
def test_runtime_operators_say_what_there_is(name):
    function = getattr(ts.functional.external, name)
    x = F.ones((2,))
    arguments = {
        "extern_opr_subgraph": ([x], [(2,)], "name", b"data", ["float32"]),
        "cambricon_runtime_opr": ([x], b"data", "subnet0", False),
    }.get(name, ([x],) if name == "tensorrt_runtime_opr" else ([x], b"data"))
    with pytest.raises(NotImplementedError, match=rf"{name}: provider must be .*onnx_runtime"):
        function(*arguments)
