"""InternalGraph: queries, edits, points to look at, and edits that are refused."""

import copy

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm

from tests.frontends.python.traced_module.nets import check_same, floats, lines, net


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = M.Linear(3, 4), M.Linear(4, 2)
        self.inner = M.Sequential(M.Linear(4, 4), M.ReLU())

    def forward(self, x):
        x = F.relu(self.first(x))
        return self.last(self.inner(x) + x)


@pytest.fixture
def traced():
    return tm.trace_module(Net(), floats(2, 3))


def _node(graph, name):
    return graph.get_node_by_name(name).as_unique()


def test_queries(traced):
    graph = traced.graph
    assert graph.get_module_by_type(M.Linear).as_count() == 3
    assert graph.get_module_by_type(M.Linear, recursive=False).as_count() == 2
    assert graph.get_module_by_type(M.Sequential).as_unique().owner is traced.inner
    relu = graph.get_function_by_type(F.relu).as_unique()
    assert graph.get_expr_by_id(relu.id).as_unique() is relu
    assert graph.get_node_by_id([node.id for node in relu.outputs]).as_list() == relu.outputs
    assert graph.get_method_by_type("__add__").as_unique().outputs[0].name == "add_out"
    needed = graph.get_dep_exprs(relu.outputs)
    assert [str(expr) for expr in needed] == lines(graph)[:3]
    assert graph.exprs().as_count() == graph.exprs(recursive=False).as_count() + 4
    with pytest.raises(ValueError, match=r"^as_unique: there must be one, got 3"):
        graph.get_module_by_type(M.Linear).as_unique()
    with pytest.raises(TypeError, match=r"^get_module_by_type: module_cls must be a class "):
        graph.get_module_by_type(F.relu)


def test_insert_and_replace(traced):
    graph, x = traced.graph, floats(2, 3)
    out = _node(graph, "relu_out")
    wanted = F.relu(traced.first(x))
    with graph.insert_exprs():
        doubled = F.exp(out) * 2 - out[:, :1]
    graph.replace_node({out: doubled})
    assert (doubled.shape, doubled.name) == ((2, 4), "sub_out")
    wanted = F.exp(wanted) * 2 - wanted[:, :1]
    check_same(traced(x), traced.last(traced.inner(wanted) + wanted))
    check_same(traced.graph.interpret(x), traced(x))


def test_inserted_calls_of_modules_and_attributes(traced):
    graph, x = traced.graph, floats(2, 3)
    traced.scale = ts.Parameter([2.0])
    first = graph.inputs[0]
    out = graph.outputs[0]
    with graph.insert_exprs():
        scaled = out * first.scale
        new = first.last(first.inner(_node(graph, "relu_out"))) + scaled
    wanted = traced(x) * 2 + traced.last(traced.inner(F.relu(traced.first(x))))
    graph.reset_outputs({"old": out, "new": new})
    check_same(traced(x)["new"], wanted)


def test_names_stay_unique(traced):
    graph = traced.graph
    for _ in range(3):
        out = graph.outputs[0]
        with graph.insert_exprs():
            new = F.relu(out)
        graph.replace_node({out: new})
    names = [node.name for node in graph.nodes(recursive=False)]
    assert len(names) == len(set(names)) and names[-3:] == [f"relu_out_{i}" for i in (1, 2, 3)]


def test_outputs(traced):
    graph, x = traced.graph, floats(2, 3)
    wanted = traced(x)
    graph.add_output_node(_node(graph, "relu_out"))
    check_same(traced(x), (wanted, F.relu(traced.first(x))))
    graph.reset_outputs(_node(graph, "relu_out"))
    before = graph.exprs(recursive=False).as_count()
    graph.compile()
    assert graph.exprs(recursive=False).as_count() == before - 5
    check_same(traced(x), F.relu(traced.first(x)))


def test_inputs(traced):
    graph, x = traced.graph, floats(2, 3)
    wanted = traced(x)
    more = graph.add_input_node((2, 2), name="more")
    out = graph.outputs[0]
    with graph.insert_exprs():
        total = out + more
    graph.replace_node({out: total})
    check_same(traced(x, F.ones((2, 2))), wanted + 1)
    assert [node.name for node in graph.inputs] == ["self", "x", "more"]
    graph.reset_inputs(floats(5, 3), floats(5, 2))
    assert graph.outputs[0].shape == (5, 2)
    check_same(graph.eval(x, F.ones((2, 2)))[0], wanted + 1)


def test_several_modules_share_nothing(traced):
    other = copy.deepcopy(traced)
    out = other.graph.outputs[0]
    with other.graph.insert_exprs():
        new = out * 2
    other.graph.replace_node({out: new})
    x = floats(2, 3)
    check_same(other(x), traced(x) * 2)
    with pytest.raises(ValueError, match=r"^replace_node: nodes must be of this graph, got Net.\["):
        traced.graph.replace_node({traced.graph.outputs[0]: new})


def _refused(traced, error, text, edit):
    before, x = str(traced.graph), floats(2, 3)
    wanted = traced(x)
    with pytest.raises(error) as raised:
        edit(traced.graph)
    assert str(raised.value).startswith(text)
    assert str(traced.graph) == before
    check_same(traced(x), wanted)
    check_same(traced.graph.interpret(x), wanted)


def _insert(graph, make, expr=None):
    with graph.insert_exprs(expr):
        make()


REFUSED = {
    "no node": (
        TypeError,
        "reset_outputs: values must be nodes, got 3",
        lambda g: g.reset_outputs((g.outputs[0], 3)),
    ),
    "a node of another graph": (
        ValueError,
        "add_output_node: nodes must be of this graph, got Net.inner.[",
        lambda g: g.add_output_node(g.called_graphs[0].outputs[0]),
    ),
    "an input of another graph": (
        ValueError,
        "add_input_node: the graph must be the outermost, got Net.inner",
        lambda g: g.called_graphs[0].add_input_node((2,)),
    ),
    "insertion before what is read": (
        ValueError,
        "Net.Graph: a node must be made before it is read, got last_out",
        lambda g: _insert(g, lambda: F.relu(g.outputs[0]), g.own_exprs[0]),
    ),
    "insertion behind an expression of another graph": (
        ValueError,
        "insert_exprs: expr must be of this graph, got '",
        lambda g: _insert(g, lambda: None, g.called_graphs[0].own_exprs[0]),
    ),
    "an inserted call that raises": (
        ValueError,
        "matmul: ",
        lambda g: _insert(g, lambda: F.matmul(g.outputs[0], g.inputs[1].T)),
    ),
    "an inserted call with a node of another graph": (
        RuntimeError,
        "trace_module: a tensor must be used in the module that made it",
        lambda g: _insert(g, lambda: F.relu(g.called_graphs[0].outputs[0])),
    ),
    "shapes of other tensors": (
        ValueError,
        "",
        lambda g: g.reset_inputs(floats(5, 4)),
    ),
    "another number of tensors": (
        ValueError,
        "reset_inputs: there must be a tensor for each of 1 inputs, got 2",
        lambda g: g.reset_inputs(floats(5, 3), floats(5, 3)),
    ),
    "a value for the module": (
        ValueError,
        "eval: there must be a value for each of 1 inputs, got 2",
        lambda g: g.eval(floats(2, 3), floats(2, 3)),
    ),
    "values of an expression": (
        ValueError,
        "interpret: there must be a value for each of 2 inputs, got 1",
        lambda g: g.own_exprs[1].interpret(floats(2, 3)),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(traced, case):
    error, text, edit = REFUSED[case]
    _refused(traced, error, text, edit)


def test_a_node_that_is_made_too_late(traced):
    graph = traced.graph
    with graph.insert_exprs(graph.own_exprs[-1]):
        late = F.exp(graph.inputs[1])
    _refused(
        traced, ValueError,
        "replace_node: a node must be made before it is read, got exp_out for relu_out in '",
        lambda g: g.replace_node({_node(g, "relu_out"): late}),
    )  # fmt: skip


def test_nodes_outside_of_insert_exprs(traced):
    node = traced.graph.outputs[0]
    with pytest.raises(RuntimeError, match=r"^TensorNode: a call with a node must be in ins"):
        node + 1
    with pytest.raises(AttributeError, match=r"^TensorNode: name must be an attribute of nodes"):
        node.reshape(-1)


def test_watch_points(traced):
    graph, x = traced.graph, floats(2, 3)
    relu, inner = _node(graph, "relu_out"), traced.inner.graph.outputs[0]
    traced.set_watch_points([relu, inner])
    wanted = F.relu(traced.first(x))
    traced(x)
    check_same(traced.watch_node_value[relu], wanted)
    check_same(traced.watch_node_value[inner], traced.inner(wanted))
    traced.clear_watch_points()
    traced(x)
    assert not traced.watch_node_value


def test_end_points(traced):
    graph, x = traced.graph, floats(2, 3)
    wanted = traced(x)
    relu, inner = _node(graph, "relu_out"), traced.inner.graph.outputs[0]
    traced.set_end_points(relu)
    check_same(traced(x), F.relu(traced.first(x)))
    traced.set_end_points([inner, relu])
    check_same(traced(x), [traced.inner(F.relu(traced.first(x))), F.relu(traced.first(x))])
    traced.clear_end_points()
    check_same(traced(x), wanted)
    other = tm.trace_module(Net(), x).graph.outputs[0]
    with pytest.raises(ValueError, match=r"^Net: a node to look at must be of the module's graphs"):
        traced.set_end_points(other)


def test_an_edit_while_the_graph_runs(traced):
    graph, x = traced.graph, floats(2, 3)
    wanted = traced(x)

    def edit(module, inputs, outputs):
        out = graph.outputs[0]
        with graph.insert_exprs():
            new = out * 2
        graph.replace_node({out: new})
        handler.remove()

    handler = traced.first.register_forward_hook(edit)
    check_same(traced(x), wanted)
    check_same(traced(x), wanted * 2)


def test_differences():
    one, two = (tm.trace_module(Net(), floats(2, 3)) for _ in range(2))
    assert one.graph.diff(two.graph) == []
    out = two.graph.outputs[0]
    with two.graph.insert_exprs():
        new = F.exp(out)
    two.graph.replace_node({out: new})
    assert [line for line in one.graph.diff(two.graph)[2:] if line[0] in "+-"] == [
        "-return %9", "+%10 = elemwise.exp(%9)", "+return %10",
    ]  # fmt: skip


def test_compile_keeps_effects():
    def forward(self, x):
        F.exp(x)
        self.norm(x)
        y = x * 1
        y += 1
        self.kept = x + 1
        ts.random.normal(size=(2,))
        return y

    module = net(forward, norm=M.BatchNorm1d(3), kept=F.zeros(1))
    graph = tm.trace_module(module, floats(2, 3)).graph
    before = graph.exprs().as_count()
    assert graph.compile().exprs().as_count() == before - 1
    np.testing.assert_array_equal(graph.interpret(floats(2, 3)), floats(2, 3) + 1)


def test_a_body_is_edited():
    def forward(self, x):
        return F.cond(x.sum() > 0, lambda a: a * x, lambda a: a - x, x)

    traced = tm.trace_module(net(forward), floats(3))
    body = traced.graph.get_function_by_type(F.cond).as_unique().bodies[0]
    out = body.outputs[0]
    with body.insert_exprs():
        doubled = out * 2
    body.replace_node({out: doubled})
    x = abs(floats(3))
    check_same(traced(x), x * x * 2)
    check_same(traced.graph.interpret(x), x * x * 2)


def test_constants_of_copies():
    def forward(self, x):
        return x + ts.tensor([1.0])

    traced = tm.trace_module(net(forward), floats(3))
    other = copy.deepcopy(traced)
    constant = other.graph.own_exprs[0].value
    constant += 1
    check_same(traced(floats(3)), floats(3) + 1)
    check_same(other(floats(3)), floats(3) + 2)
