"""Expressions, signatures and nodes in the file of a traced module."""

import io
import pickle
from collections import namedtuple

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import amp, autodiff, core
from tessera.quantization import QuantMode, create_qparams

from tests.frontends.python.traced_module.records import again, saved
from tests.support.helper import same_bits

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Point = namedtuple("Point", "x y")


class Pair:
    """A container of the user."""

    def __init__(self, a, b):
        self.a, self.b = a, b


class Unknown:
    """No type that anybody has registered."""


class Call(M.Module):
    """A module of a function."""

    def __init__(self, function, **attributes):
        super().__init__()
        vars(self).update(attributes)
        object.__setattr__(self, "_function", function)

    def forward(self, *args, **kwargs):
        return self._function(self, *args, **kwargs)


def traced_of(function, *args, **kwargs):
    attributes = kwargs.pop("attributes", {})
    args = args or (ts.tensor(X),)
    return tm.trace_module(Call(function, **attributes), *args, **kwargs)


def check(function, *args):
    """Saves and loads; both give the same bits."""
    args = args or (ts.tensor(X),)
    traced = traced_of(function, *args)
    loaded = again(traced)
    assert same_bits(loaded(*args), traced(*args)) and str(loaded.graph) == str(traced.graph)
    assert saved(loaded) == saved(traced)
    return traced, loaded


# Expressions.


def test_every_kind_of_expression():
    relu = core.ops.builtin.Relu() if hasattr(core.ops.builtin, "Relu") else None

    def function(self, x):
        (y,) = core.apply(relu, x)
        self.seen = y + ts.tensor([1.0, 2.0, 3.0])
        rows, columns = x.shape
        return F.reshape(y * self.scale, (rows * columns,)) + self.seen.sum()

    parts = {"scale": ts.Parameter([2.0]), "seen": ts.tensor(X)}
    traced = traced_of(function, attributes=parts)
    loaded = again(traced)
    kinds = [type(each).__name__ for each in loaded.graph.exprs()]
    assert {"Apply", "CallFunction", "CallMethod", "Constant", "GetAttr", "SetAttr"} == set(kinds)
    assert same_bits(loaded(ts.tensor(-X)), traced(ts.tensor(-X)))
    assert same_bits(loaded.seen, traced.seen)
    assert loaded(ts.tensor(np.ones((4, 3), np.float32))).shape == (12,)


def test_bodies_of_loops_and_branches():
    def function(self, x):
        def step(state, row):
            inner = F.cond(row.sum() > 3, lambda r: r * 2 + state, lambda r: r - x[0], row)
            return state + inner, inner

        last, states = F.scan(step, x[0], x)
        grown = F.while_loop(lambda y: y.sum() < 100, lambda y: y * 2 + last, x[1])
        return last, states, grown, autodiff.checkpoint(lambda y: F.exp(y) + last, x)

    traced, loaded = check(function)
    assert sum(len(each.bodies) for each in loaded.graph.exprs()) == 6
    assert loaded.graph.diff(traced.graph) == []
    again(loaded)


def test_contexts_around_calls():
    def function(self, x):
        with autodiff.no_grad():
            y = F.exp(x)
        with amp.autocast(enabled=True):
            return F.matmul(y, F.transpose(x, (1, 0)))

    traced, loaded = check(function)
    assert [each.modes for each in loaded.graph.exprs()] == [
        each.modes for each in traced.graph.exprs()
    ]
    assert any(each.modes for each in loaded.graph.exprs())


def test_several_graphs_of_one_module():
    class Inner(M.Module):
        def forward(self, x, twice=False):
            return x * 2 if twice else F.relu(x)

    class Outer(M.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(self.inner(x), twice=True)

    traced = tm.trace_module(Outer(), ts.tensor(X))
    loaded = again(traced)
    assert len(loaded.inner.graphs) == 2 and str(loaded.graph) == str(traced.graph)
    assert same_bits(loaded(ts.tensor(X - 3)), traced(ts.tensor(X - 3)))
    part = again(traced.inner)
    assert part.class_name == "Inner" and len(part.graphs) == 2


def test_signatures():
    def forward(self, x, *rest, scale=2.0, mask=None, **more):
        return x * scale + rest[0]["a"] - more["last"]

    class Net(M.Module):
        pass

    Net.forward = forward
    args, kwargs = (ts.tensor(X), {"a": ts.tensor(X), "b": [1, "two"]}), {"last": ts.tensor([1.0])}
    traced = tm.trace_module(Net(), *args, **kwargs)
    loaded = again(traced)
    assert same_bits(loaded(*args, **kwargs), traced(*args, **kwargs))
    names = [(each.name, each.kind, each.default) for each in loaded.graph.signature.parameters]
    assert names == [(e.name, e.kind, e.default) for e in traced.graph.signature.parameters]
    with pytest.raises(ValueError, match="^Net: scale must be as it was recorded, 2.0, got 3.0"):
        loaded(*args, scale=3.0, **kwargs)


def test_training_is_read_when_it_runs():
    def function(self, x):
        return F.dropout(x, 0.5, training=self.training)

    traced = traced_of(function)
    loaded = again(traced.eval())
    assert loaded.training is False and same_bits(loaded(ts.tensor(X)), ts.tensor(X))
    assert not same_bits(loaded.train()(ts.tensor(X)), ts.tensor(X))


def test_a_loaded_graph_can_be_edited():
    loaded = again(traced_of(lambda self, x: F.relu(x)))
    out = loaded.graph.outputs[0]
    with loaded.graph.insert_exprs():
        new = F.exp(out) + 1
    loaded.graph.replace_node({out: new})
    ids = [each.id for each in loaded.graph.exprs()]
    assert len(set(ids)) == len(ids) == 3
    assert same_bits(again(loaded)(ts.tensor(X)), F.exp(ts.tensor(X)) + 1)
    assert again(loaded.flatten()).graph.diff(loaded.flatten().graph) == []


def test_watch_points_and_end_points_stay_behind():
    traced = traced_of(lambda self, x: F.relu(F.exp(x)))
    node = traced.graph.exprs().as_list()[0].outputs[0]
    traced.set_watch_points(node)
    traced.set_end_points(node)
    loaded = again(traced)
    assert same_bits(loaded(ts.tensor(X)), F.exp(ts.tensor(X))) and not loaded.watch_node_value


def test_qparams_of_nodes():
    traced = traced_of(lambda self, x: F.relu(x))
    traced.graph.outputs[0].qparams = create_qparams(
        QuantMode.ASYMMERTIC, "quint8", ts.tensor(0.5), ts.tensor(3, dtype="int32")
    )
    found = again(traced).graph.outputs[0].qparams
    assert found == traced.graph.outputs[0].qparams and found.mode is QuantMode.ASYMMERTIC


def test_tensors_of_a_checkpoint_are_shared_with_its_modules():
    traced = traced_of(lambda self, x: x @ self.w, attributes={"w": ts.Parameter(X.T)})
    file = io.BytesIO()
    ts.save({"net": traced, "w": traced.w, "other": [traced]}, file)
    loaded = ts.load(io.BytesIO(file.getvalue()))
    assert loaded["net"].w is loaded["w"] and loaded["other"][0] is loaded["net"]
    assert file.getvalue().count(b'"net.w":{') == 1


def test_another_device():
    def function(self, x):
        return x @ self.w + ts.tensor([1.0, 2.0])

    traced = traced_of(function, attributes={"w": ts.Parameter(X.T[:, :2])})
    loaded = ts.load(io.BytesIO(saved(traced)), map_location="sim0")
    assert {str(each.device) for each in loaded.tensors()} == {"sim0"}
    found = loaded(ts.tensor(X, device="sim0"))
    assert str(found.device) == "sim0" and same_bits(found.to("cpu0"), traced(ts.tensor(X)))


def test_a_mapped_file(tmp_path):
    traced = traced_of(lambda self, x: x @ self.w, attributes={"w": ts.Parameter(X.T)})
    ts.save(traced, tmp_path / "net")
    assert same_bits(ts.load(tmp_path / "net", mmap=True)(ts.tensor(X)), traced(ts.tensor(X)))


def test_other_tools_find_the_tensors_by_name():
    parts = {"w": ts.Parameter(X.T), "more": [ts.tensor(X)]}
    traced = traced_of(lambda self, x: x @ self.w + self.more[0] @ self.w, attributes=parts)
    content = saved(traced)
    assert content.count(b'"w":{') == content.count(b'"more.0":{') == 1


def test_private_methods_are_refused():
    traced = traced_of(lambda self, x: x.reshape(-1))
    traced.graph.exprs().as_list()[0].method = "__reduce__"
    wanted = (
        "^save: methods in a traced module must be public ones of tensors, or calls of modules, "
        "got '__reduce__' in "
    )
    with pytest.raises(TypeError, match=wanted):
        saved(traced)
    traced = traced_of(lambda self, x: F.reshape(x, (x.shape[0] * 3,)))
    traced.graph.exprs().as_list()[0].name = "__dict__"
    with pytest.raises(TypeError, match="^save: attributes of tensors in a traced module must be "):
        saved(traced)


def test_a_node_that_is_read_too_early_is_refused():
    traced = traced_of(lambda self, x: F.exp(F.relu(x)))
    first, last = traced.graph.own_exprs
    wanted = (
        "^save: a node must be made before it is read, in the graph that reads it or in one around"
        r", got Call.\[relu_out\] in 'exp_out = elemwise.exp\(relu_out, \)' of Call$"
    )
    traced.graph.own_exprs.reverse()
    with pytest.raises(ValueError, match=wanted):
        saved(traced)
    traced.graph.own_exprs.reverse()
    first.set_arguments((last.result,), {})  # a cycle
    with pytest.raises(ValueError, match="^save: a node must be made before it is read, "):
        saved(traced)
    first.set_arguments((first.result,), {})
    with pytest.raises(ValueError, match="^save: a node must be made before it is read, "):
        saved(traced)


def test_a_node_of_another_graph_is_refused():
    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.inner = Call(lambda self, x: F.exp(x))

        def forward(self, x):
            return F.relu(self.inner(x))

    traced = tm.trace_module(Net(), ts.tensor(X))
    foreign = traced.graph.own_exprs[0].outputs[0], traced.graph.inputs[1]
    traced.inner.graph.own_exprs[0].set_arguments((foreign[1],), {})
    with pytest.raises(ValueError, match=r"got Net.\[x\] in 'exp_out = .* of Net.inner$"):
        saved(traced)


def test_many_expressions():
    """Without recursion, and in a time that grows as they do."""
    from tessera.traced_module.expr import CallFunction, new_node
    from tessera.traced_module.node import TensorNode

    traced = traced_of(lambda self, x: F.relu(x))
    graph = traced.graph
    for _ in range(20_000):
        expr = CallFunction(graph, F.relu, (graph.output_tree,))
        expr.result = graph.output_tree = new_node(expr, "relu_out", TensorNode, ts.tensor(X))
        graph.own_exprs.append(expr)
    for loaded in (again(traced), pickle.loads(pickle.dumps(traced))):
        assert loaded.graph.exprs().as_count() == 20_001


def test_a_constant_that_each_run_writes_to():
    def function(self, x):
        total = ts.tensor([0.0])
        total += x.sum()
        return total, x + ts.random.default_rng.uniform(size=3), ts.random.normal(size=3)

    _, loaded = check_drawing(function)
    assert [loaded(ts.tensor(X))[0].item() for _ in range(3)] == [15.0] * 3


def check_drawing(function):
    """As `check`, for a function that draws the same numbers each time."""
    traced = traced_of(function)
    loaded = again(traced)
    results = []
    for each in (traced, loaded):
        ts.random.seed(3)
        results.append(each(ts.tensor(X)))
    assert same_bits(*results)
    return traced, loaded
