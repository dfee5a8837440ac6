"""Files of older versions: steps bring what they name to the version of today."""

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import core
from tessera.traced_module import compat
from tessera.traced_module.expr import CallMethod, new_node
from tessera.traced_module.node import TensorNode
from tessera.traced_module.traced_module import load_records

from tests.frontends.python.traced_module.records import of_kind, records, saved, written
from tests.support.helper import same_bits

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.leaky = M.LeakyReLU(0.5)

    def forward(self, x):
        (y,) = core.apply(core.ops.builtin.Softmax(axis=1), self.leaky(x))
        return F.elu(y.reshape(-1), alpha=0.5) if hasattr(F, "elu") else y


@pytest.fixture(autouse=True)
def _steps():
    before = dict(compat._steps)
    yield
    compat._steps.clear()
    compat._steps.update(before)


def old(rename=(), edit=lambda rows: None):
    """The records of a module, with names of an older version, and a function that reads them."""
    traced = tm.trace_module(Net(), ts.tensor(X))
    rows, arrays = records(traced)
    for each in of_kind(rows, "name"):
        each["name"] = dict(rename).get(each["name"], each["name"])
    edit(rows)
    data = written(rows)
    return traced, lambda: load_records(data, arrays)


def test_a_function_that_is_called_otherwise_now():
    traced, load = old([("functional.nn.elu", "functional.nn.older_elu")])
    with pytest.raises(
        ValueError, match="must be known to this version, got 'functional.nn.older_"
    ):
        load()

    @compat.register_functional_loader("functional.nn.older_elu")
    def step(expr):
        expr.func = F.elu
        expr.set_arguments(expr.args, {**expr.kwargs, "alpha": 2.0})

    loaded = load()
    (expr,) = loaded.graph.get_function_by_type(F.elu)
    assert expr.kwargs == {"alpha": 2.0}
    assert saved(loaded).count(b"older_elu") == 0


def test_a_step_that_changes_nothing_of_a_function_that_is_gone():
    _, load = old([("functional.nn.elu", "functional.nn.older_elu")])
    compat.register_functional_loader("functional.nn.older_elu")(lambda expr: None)
    with pytest.raises(ValueError, match="got a function that it has no more$"):
        load()


def test_steps_run_one_after_another():
    traced, load = old()
    seen = []
    for version in (1, 3):
        step = compat.register_functional_loader("functional.nn.elu", version=version)
        step(lambda expr, version=version: seen.append((version, expr.func is F.elu)))
    load()
    assert seen == [(1, True), (3, True)]
    assert compat.version_of(compat.FUNCTION, "functional.nn.elu") == 4
    rows, _ = records(traced)
    name = next(each for each in of_kind(rows, "name") if each["name"] == "functional.nn.elu")
    assert name["version"] == 4


def test_a_step_puts_an_expression_before():
    _, load = old()

    @compat.register_tensor_method_loader("reshape")
    def step(expr):
        graph = expr.top_graph
        added = CallMethod(graph, "__add__", (expr.args[0], 1))
        added.result = new_node(added, "shifted", TensorNode)
        graph.own_exprs.append(added)
        expr.set_arguments((added.result, *expr.args[1:]), expr.kwargs)

    loaded = load()
    assert [each.method for each in loaded.graph.get_method_by_type("__add__")] == ["__add__"]
    assert same_bits(loaded(ts.tensor(X)), F.elu(F.softmax(_leaky(), 1).reshape(-1) + 1, alpha=0.5))
    ids = [node.id for node in loaded.graph.nodes()]
    assert len(set(ids)) == len(ids)


def _leaky():
    return F.leaky_relu(ts.tensor(X), 0.5)


def test_a_module_whose_attributes_have_other_names():
    def edit(rows):
        for fields in of_kind(rows, "attributes"):
            for each in fields["entries"]:
                each["name"] = each["name"].replace("negative_slope", "slope")

    traced, load = old(edit=edit)

    @compat.register_module_loader("module.LeakyReLU")
    def step(state):
        state["negative_slope"] = state.pop("slope")

    loaded = load()
    assert vars(loaded.leaky).keys() == vars(traced.leaky).keys()
    assert same_bits(loaded(ts.tensor(X)), traced(ts.tensor(X)))


def test_an_operator_of_an_older_name():
    def edit(rows):
        expr = next(each for each in of_kind(rows, "expr") if each.get("kind") == 4)
        expr["text"] = expr["text"].replace("softmax", "older_softmax")

    _, load = old([("Softmax", "OlderSoftmax")], edit)
    with pytest.raises(ValueError, match="^.*older_softmax"):
        load()

    @compat.register_opdef_loader("OlderSoftmax")
    def step(expr):
        expr.opdef = core.ops.builtin.Softmax(axis=1)

    assert same_bits(load()(ts.tensor(X)), Net()(ts.tensor(X)))


def test_an_operator_of_an_older_version_is_that_of_its_record():
    """The text of an operator has its version, and its record knows the older ones."""

    class Flat(M.Module):
        def forward(self, x):
            return core.apply(core.ops.builtin.Flatten(start_axis=1, end_axis=2), x)[0]

    x = ts.tensor(X.reshape(1, 2, 3))
    rows, arrays = records(tm.trace_module(Flat(), x))
    (expr,) = of_kind(rows, "expr")
    assert expr["text"] == "flatten@2{start_axis=1, end_axis=2}"
    expr["text"] = "flatten{start=1, end=2}"
    loaded = load_records(written(rows), arrays)
    assert same_bits(loaded(x), ts.tensor(X.reshape(1, 6)))
    expr["text"] = "flatten@3{start_axis=1, end_axis=2}"
    with pytest.raises(ValueError, match="^load: .*flatten"):
        load_records(written(rows), arrays)


@pytest.mark.parametrize("name", ["functional", "tensor_method", "opdef", "module"])
def test_arguments_of_registrations(name):
    register = getattr(compat, f"register_{name}_loader")
    start = f"^register_{name}_loader: "
    with pytest.raises(TypeError, match=start + r"names must be strings, got \(3,\)$"):
        register(3)
    with pytest.raises(TypeError, match=start + r"names must be strings, got \(\)$"):
        register()
    with pytest.raises(TypeError, match=start + r"version must be an int, got 1.0$"):
        register("a", version=1.0)
    with pytest.raises(ValueError, match=start + r"version must be at least 1, got 0$"):
        register("a", version=0)
    register("a", "b", version=2)(print)
    with pytest.raises(
        ValueError, match=start + "a version must have one step, got another from b "
    ):
        register("b", version=2)
