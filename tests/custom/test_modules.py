"""Modules whose operators users bring: copies, threads, processes, graphs of calls, files."""

import copy
import io
import multiprocessing
import pickle
import threading

import numpy as np
import onnx
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.onnx
import tessera.traced_module as tm
from tessera import jit
from tessera._custom import calls, registry
from tessera.autodiff import GradManager
from tessera.data import DataLoader

from tests.custom import awkward
from tests.custom.functions import Cube, X, jitter, tally

ops = awkward.ops


class Net(M.Module):
    """A parameter, a buffer that an operator changes, and operators as attributes."""

    def __init__(self):
        super().__init__()
        self.weight = ts.Parameter(X)
        self.total = F.zeros((2,))
        self.cube, self.sum = Cube, ops.running_sum

    def forward(self, x):
        x = self.cube(ops.scaled_relu(x), factor=0.5)
        return self.sum(ops.matvec(self.weight, x), self.total)


def of_net(x, total):
    total += X @ (0.5 * np.maximum(x, 0) ** 3)
    return total.copy()


def test_a_module():
    net, x = Net(), np.float32([1, 2, -1])
    total = np.zeros(2, np.float32)
    np.testing.assert_allclose(net(ts.tensor(x)).numpy(), of_net(x, total))
    copies = copy.deepcopy(net), pickle.loads(pickle.dumps(net)), Net()
    copies[2].load_state_dict(net.state_dict())
    for each in copies:
        assert each.cube is Cube and each.sum is ops.running_sum
        np.testing.assert_allclose(each(ts.tensor(x)).numpy(), of_net(x, total.copy()))
    np.testing.assert_array_equal(net.total.numpy(), total)
    assert sorted(net.state_dict()) == ["total", "weight"]
    manager = GradManager().attach(net.parameters())
    with manager:
        manager.backward(net(ts.tensor(x)).sum())
    np.testing.assert_allclose(net.weight.grad.numpy(), [[0.5, 4, 0]] * 2)


def test_threads():
    x, found = ts.tensor(X), []
    step = jit.trace(lambda x: (Cube(ops.scaled_relu(x, 2.0)), *ops.moments(x)))
    want = [each.numpy() for each in step(x)]

    def work(number):
        for _ in range(20):
            got = (Cube(ops.scaled_relu(x, 2.0)), *ops.moments(x)) if number % 2 else step(x)
            found.append(all(np.array_equal(a.numpy(), b) for a, b in zip(got, want, strict=True)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [True] * 80


class Rows:
    """A data set whose items custom operators compute."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        row = ts.tensor(X[index % 2] + index)
        return Cube(ops.scaled_relu(row)).numpy()


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_of_a_loader(workers):
    Cube(ops.scaled_relu(ts.tensor(X))).numpy()  # before they are forked
    rows = np.concatenate([np.asarray(each) for each in DataLoader(Rows(), num_workers=workers)])
    want = [np.maximum(X[i % 2] + i, 0) ** 3 for i in range(6)]
    np.testing.assert_array_equal(rows, want)


def _in_child(queue):
    queue.put((Cube(ops.scaled_relu(ts.tensor(X))).tolist(), ops.moments(ts.tensor(X))[0].tolist()))


def test_fork():
    want = Cube(ops.scaled_relu(ts.tensor(X))).tolist(), ops.moments(ts.tensor(X))[0].tolist()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == want
    child.join()
    assert child.exitcode == 0


class Noisy(M.Module):
    """Each kind of operator: plain ones, with a state, with random numbers."""

    def __init__(self):
        super().__init__()
        self.total = F.zeros((2, 3))

    def forward(self, x):
        x = ops.noise(ops.scaled_relu(x, 2.0), is_training=True)
        x = jitter(Cube(x), is_training=True)
        return ops.running_sum(x, self.total), tally(x, self.total), ops.moments(x)[0]


def test_traced_modules():
    """By name: also in a file, where a state and random numbers go on."""
    x, file = ts.tensor(X), io.BytesIO()
    traced = tm.trace_module(Noisy(), x)
    names = [str(each) for each in traced.graph.exprs()]
    for name in ("scaled_relu", "'awkward::running_sum'", "'around::jitter'", "cube"):
        assert any(name in each for each in names), name
    ts.save(traced, file)
    file.seek(0)
    found = []
    for net in (Noisy(), traced, traced.flatten(), ts.load(file)):
        ts.seed(4)
        for _, tensor in net.named_tensors():
            tensor.reset_zero()  # a flattened module has those of the whole
        found.append([each.numpy() for _ in range(2) for each in net(x)])
    for other in found[1:]:
        for got, want in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(got, want)


def test_a_traced_module_without_its_library(monkeypatch):
    class Plain(M.Module):
        def forward(self, x):
            return ops.scaled_relu(x)

    files = []
    for net in (Plain(), Noisy()):
        files.append(io.BytesIO())
        ts.save(tm.trace_module(net, ts.tensor(X)), files[-1])
        files[-1].seek(0)
    monkeypatch.setattr(registry, "_rows", {})
    monkeypatch.setattr(calls, "_operators", {})
    with pytest.raises(ValueError, match="the library must be loaded that .* got 'awkward::scaled"):
        ts.load(files[0])
    with pytest.raises(
        LookupError, match="the library must be loaded that .* got 'awkward::noise'"
    ):
        calls.call_operator("awkward::noise", ts.tensor(X))


@ts.custom_op(
    "modules::pair", outputs=("first", "second"), hidden=("kept",), onnx="of.modules::Pair",
    infer=lambda x, *, how, count, flag, list: (x, x, x), backward=lambda d_first: d_first,
)  # fmt: skip
def pair(x, *, how: str = "plain", count: int = 3, flag: bool = True, list: list[int] = (1, 2)):
    return x * count, x, x


def exported(function):
    step, file = jit.trace(function, capture_as_const=True), io.BytesIO()
    step(ts.tensor(X))
    tessera.onnx.export(step, file)
    return onnx.load_from_string(file.getvalue())


def test_onnx():
    """An operator with a name there is a node of its domain, its parameters are attributes."""
    model = exported(lambda x: pair(ops.scaled_relu(x * 2, scale=0.5), how="odd")[0] + 1)
    nodes = [each for each in model.graph.node if each.domain]
    assert [(each.domain, each.op_type) for each in nodes] == [
        ("awkward", "ScaledRelu"),
        ("of.modules", "Pair"),
    ]
    found = [{a.name: onnx.helper.get_attribute_value(a) for a in each.attribute} for each in nodes]
    assert found == [{"scale": 0.5}, {"how": b"odd", "count": 3, "flag": 1, "list": [1, 2]}]
    assert list(nodes[1].input) == list(nodes[0].output) and len(nodes[1].output) == 3
    domains = {each.domain: each.version for each in model.opset_import if each.domain}
    assert domains == {"awkward": 1, "of.modules": 1}
    loaded = tessera.onnx.load(io.BytesIO(model.SerializeToString()))
    np.testing.assert_array_equal(loaded(ts.tensor(X)).numpy(), 3 * np.maximum(X, 0) + 1)


def test_onnx_reads_nodes_of_loaded_libraries():
    """Variadic inputs, texts, lists and defaults; within a trace and its file, too."""

    def mixed(x):
        y = ops.weighted([x, x * 2, F.relu(x)], [1, -2, 3], mode="mean")
        return pair(y, count=2, list=[4])[1] * 2

    loaded = tessera.onnx.load(exported(mixed))
    step = jit.trace(lambda x: loaded(x) + 1, capture_as_const=True)
    for _ in range(2):
        np.testing.assert_array_equal(loaded(ts.tensor(X)).numpy(), mixed(ts.tensor(X)).numpy())
        np.testing.assert_array_equal(step(ts.tensor(X)).numpy(), mixed(ts.tensor(X)).numpy() + 1)
    node = onnx.helper.make_node("ScaledRelu", ["x"], ["y"], domain="awkward")
    assert tessera.onnx.load(model_of(node))(ts.tensor([-1.0, 2.0])).tolist() == [0, 2]


def model_of(node):
    """A model of one node from x to y."""
    values = [onnx.helper.make_tensor_value_info(name, 1, ["N"]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "one", values[:1], values[1:])
    imports = [onnx.helper.make_opsetid(*each) for each in (("", 17), (node.domain, 1))]
    return onnx.helper.make_model(graph, opset_imports=imports)


@pytest.mark.parametrize(
    ("domain", "name", "attributes", "match"),
    [
        ("awkward", "Nothing", {}, "of a library that is loaded, got awkward.Nothing in node 'n'"),
        ("nowhere", "ScaledRelu", {}, "of a library that is loaded, got nowhere.ScaledRelu in"),
        (
            "awkward", "ScaledRelu", {"slope": 2.0},
            r"awkward.ScaledRelu in node 'n' of outputs \['y'\]: attributes must be parameters of "
            r"awkward::scaled_relu, \['scale'\], got 'slope'",
        ),
    ],
)  # fmt: skip
def test_onnx_names_what_no_library_has(domain, name, attributes, match):
    node = onnx.helper.make_node(name, ["x"], ["y"], name="n", domain=domain, **attributes)
    with pytest.raises(NotImplementedError, match=match):
        tessera.onnx.load(model_of(node))


def slope_of_weighted(x):
    """A gradient, which is an operator without a name there."""
    with GradManager().attach([x]) as manager:
        manager.backward(ops.weighted([x, x * 2], [1, 2]).sum())
    return x.grad


def test_onnx_refuses_an_operator_without_a_name():
    for function, name in ((Cube, "around.cube"), (lambda x: ops.moments(x)[0], "awkward.moments"),
                           (slope_of_weighted, "awkward.weighted.backward")):  # fmt: skip
        with pytest.raises(NotImplementedError, match=f"that ONNX has, got {name} at"):
            exported(lambda x, f=function: f(x))


def test_estimates():
    state = F.zeros((2, 3))
    step = jit.trace(lambda x: Cube(ops.running_sum(x, state)))
    assert ts.estimate(step, ts.tensor(X)).total > 0
    assert ts.estimate(Net(), ts.tensor(X[0])).parameters >= X.nbytes
    assert state.tolist() == [[0] * 3] * 2
