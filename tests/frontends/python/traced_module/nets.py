"""Small modules for tests of traced ones, and what a traced module must do as its original."""

import numpy as np
import tessera as ts
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.traced_module.pytree import leaves_of, map_leaves


def floats(*shape, seed=0):
    """A tensor of normal numbers."""
    return ts.tensor(np.random.RandomState(seed).randn(*shape).astype(np.float32))


def net(forward, **attributes):
    """A module of one class with these attributes and this forward."""

    class Net(M.Module):
        def __init__(self):
            super().__init__()
            for name, value in attributes.items():
                setattr(self, name, value)

    Net.forward = forward
    return Net()


def check_same(value, expected):
    """Equal containers with equal bits."""
    leaves, wanted = leaves_of(value), leaves_of(expected)
    assert len(leaves) == len(wanted)
    for leaf, other in zip(leaves, wanted, strict=True):
        assert type(leaf) is type(other) or isinstance(leaf, ts.Tensor)
        np.testing.assert_array_equal(np.asarray(leaf), np.asarray(other))


def call(module, args, kwargs):
    """The results of a call that draws the numbers that every other one draws, and may write to
    its arguments.
    """
    ts.random.seed(7)
    args, kwargs = map_leaves(_own, (args, kwargs))
    return module(*args, **kwargs)


def _own(leaf):
    return leaf.detach() if isinstance(leaf, ts.Tensor) else leaf


def check_traced(module, *args, again=(), **kwargs):
    """The module traced by a call; every way to run it gives the bits of the module, for these
    arguments and those `again`.
    """
    traced = tm.trace_module(module, *args, **kwargs)
    check_runs(traced, module, args, kwargs)
    for given in again:
        check_runs(traced, module, given, {})
    return traced


def check_runs(traced, module, args, kwargs):
    """Runs the function, the expressions and the flattened graph."""
    expected = call(module, args, kwargs)
    check_same(call(traced, args, kwargs), expected)
    check_same(call(traced.graph.interpret, args, kwargs), expected)
    check_same(call(traced.flatten(), args, kwargs), expected)


def lines(graph):
    """The expressions as text."""
    return [str(expr) for expr in graph.own_exprs]
