"""Shapes and dtypes of a graph's nodes for other arguments, without data."""

import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.jit import Spec
from tessera.random import default_rng
from tessera.traced_module.pytree import map_leaves

from tests.frontends.python.traced_module import zoo
from tests.frontends.python.traced_module.batches import longer
from tests.support.helper import bits


def facts(traced):
    """Facts that nodes know, with those in bodies."""
    nodes = (node for node in traced.graph.nodes() if node.type_name == "Tensor")
    return [(node.name, node.shape, node.dtype, node.device) for node in nodes]


def spec(leaf):
    """The tensor without values."""
    return Spec(tuple(leaf.shape), str(leaf.dtype)) if isinstance(leaf, ts.Tensor) else leaf


@pytest.mark.parametrize("name", zoo.ALL)
def test_another_batch_is_inferred_as_it_is_traced(name):
    module, args = zoo.ALL[name]()
    traced, others = tm.trace_module(module, *args), longer(name, args)
    before, tensors = facts(traced), bits(list(traced.tensors()))
    traced.graph.infer(*map_leaves(spec, others))
    wanted = facts(tm.trace_module(module, *others))
    assert facts(traced) == wanted != before
    assert bits(list(traced.tensors())) == tensors
    traced.graph.infer(*args)
    assert facts(traced) == before


class Loop(M.Module):
    """A scan, sizes and a module whose statistics move."""

    def __init__(self):
        super().__init__()
        self.norm, self.calls = M.BatchNorm1d(3), ts.Tensor([0.0])

    def forward(self, x):
        self.calls = self.calls + 1
        _, out = F.scan(lambda s, e: (s + e, F.dropout(s * e, 0.5)), F.zeros_like(x[0]), x)
        return self.norm(out.reshape(x.shape[0] * 2, 3))


def test_bodies_sizes_and_state():
    traced = tm.trace_module(Loop(), F.ones((4, 2, 3)))
    calls, norm = traced.calls, bits(list(traced.norm.tensors()))
    random = default_rng.state_dict()
    traced.graph.infer(Spec((5, 2, 3)))
    assert traced.graph.outputs[0].shape == (10, 3)
    (body,) = traced.graph.get_function_by_type(F.scan).as_unique().bodies
    assert [node.shape for node in body.inputs] == [(2, 3), (2, 3)]
    sizes = [node.value for node in traced.graph.nodes() if node.type_name == "int"]
    assert sizes == [5, 2, 3, 10]
    assert traced.calls is calls and bits(list(traced.norm.tensors())) == norm
    assert default_rng.state_dict() == random


class Twice(M.Module):
    """Calls one module in two ways."""

    def __init__(self):
        super().__init__()
        self.inner = M.Sequential(M.ReLU())

    def forward(self, x):
        return self.inner(x), self.inner(x[0])


def test_a_graph_that_is_called_twice_has_its_first_call():
    traced = tm.trace_module(Twice(), F.ones((4, 3)))
    traced.graph.infer(Spec((5, 3)))
    assert traced.inner.graph.outputs[0].shape == (5, 3)
    assert [node.shape for node in traced.graph.outputs] == [(5, 3), (3,)]


def test_shapes_that_do_not_fit_change_nothing():
    traced = tm.trace_module(M.Sequential(M.Sequential(M.Linear(3, 2))), F.ones((4, 3)))
    before = facts(traced)
    with pytest.raises(ValueError, match=r"^linear: .*\[4, 5\]") as caught:
        traced.graph.infer(Spec((4, 5)))
    assert any("in %" in note and "Sequential.0" in note for note in caught.value.__notes__)
    assert facts(traced) == before


def test_what_infer_refuses():
    traced = tm.trace_module(Loop(), F.ones((4, 2, 3)))
    (body,) = traced.graph.get_function_by_type(F.scan).as_unique().bodies
    with pytest.raises(
        ValueError, match=r"^infer: the graph must be of a module that is there, got Loop\."
    ):
        body.infer(F.ones((2, 3)), F.ones((2, 3)))
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        traced.graph.infer()


class Chosen(M.Module):
    """Gives as many rows as data says."""

    def forward(self, x):
        return F.cond_take(x > 0, x)[0]


def test_sizes_that_depend_on_data_are_refused():
    traced = tm.trace_module(Chosen(), F.ones((4,)))
    with pytest.raises(ValueError, match="data"):
        traced.graph.infer(Spec((5,)))
    assert traced.graph.inputs[1].shape == (4,)


def test_inputs_are_reset_by_inference():
    model, args = zoo.ALL["programs/language_model"]()
    traced = tm.trace_module(model, *args)
    words, state = longer("programs/language_model", args)
    traced.graph.reset_inputs(words, state)
    wanted = facts(tm.trace_module(model, words, state))
    assert facts(traced) == wanted
