"""Every module of the package in the file of a traced module: closed, and with its state."""

import warnings

import numpy as np
import pytest
import tessera as ts
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera.traced_module.pytree import leaves_of

from tests.frontends.python.module import test_module_batches as batches
from tests.frontends.python.traced_module.records import again
from tests.frontends.python.traced_module.test_descriptions import CALLS
from tests.support.helper import bits, same_bits


class Outer(M.Module):
    """Calls one module."""

    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, *args):
        return self.part(*args)


def settings(module):
    """Attributes that are no tensors, no modules and no generators, here and below."""
    own = {key: value for key, value in vars(module).items() if not hasattr(value, "__dict__")}
    own.pop("graphs", None)
    return [type(module), sorted(own.items()), *map(settings, module.children())]


def check_equal(loaded, module):
    one, other = (dict(each.named_tensors()) for each in (loaded, module))
    assert list(one) == list(other) and repr(loaded) == repr(module)
    assert [type(each) for each in one.values()] == [type(each) for each in other.values()]
    assert bits(list(one.values())) == bits(list(other.values()))
    assert str(settings(loaded)) == str(settings(module))


@pytest.mark.parametrize(("name", "make"), CALLS)
def test_attributes_and_state(name, make):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = make()
    holder = tm.TracedModule("Holder")
    holder.part, holder.inner = part, [part]
    loaded = again(holder.eval())
    assert type(loaded.part).__name__ == name and loaded.inner[0] is loaded.part
    check_equal(loaded.part, part)
    generator = vars(part).get("_rng")
    if generator is not None:
        assert vars(loaded.part)["_rng"].state_dict() == generator.state_dict()


@pytest.mark.parametrize("is_training", [False, True])
@pytest.mark.parametrize(("make", "shapes"), batches.CALLS)
def test_results(make, shapes, is_training):
    ts.random.seed(3)
    args = batches.tensors(shapes, 2)
    net = Outer(make()).train(is_training)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = tm.trace_module(net, *args)
    loaded, found = again(traced), []
    for each in (traced, loaded):
        ts.random.seed(5)
        for _ in range(2):
            found.append([x for x in leaves_of(each(*args)) if isinstance(x, ts.Tensor)])
        found[-1] += list(each.tensors())
    assert same_bits(found[0], found[2]) and same_bits(found[1], found[3])
    check_equal(loaded.part, traced.part)


def test_a_changed_module_is_saved_as_it_is():
    """Attributes that were set later, other dtypes, frozen parameters."""
    net = Outer(M.Linear(4, 4))
    net.norm, net.part.bias = M.BatchNorm1d(4), None
    net.norm.momentum = 0.25
    net.part.freeze().half()
    traced = tm.trace_module(net, ts.tensor(np.ones((3, 4), np.float16)))
    loaded = again(traced)
    assert loaded.norm.momentum == 0.25 and loaded.part.bias is None
    assert loaded.part.weight.dtype == np.float16 and loaded.part.weight._is_frozen


def test_shared_modules_and_tensors_stay_shared():
    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.a = self.b = M.Linear(3, 3)
            self.c = M.Linear(3, 3)
            self.c.weight = self.a.weight

        def forward(self, x):
            return self.a(self.b(self.c(x)))

    loaded = again(tm.trace_module(Net(), ts.tensor(np.ones((2, 3), np.float32))))
    assert loaded.a is loaded.b and loaded.c.weight is loaded.a.weight
    assert loaded.c is not loaded.a


def test_modules_in_containers():
    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.layers = M.ModuleList([M.Linear(3, 3), M.ReLU()])
            self.named = M.ModuleDict({"norm": M.LayerNorm(3), "more": M.Linear(3, 2)})
            self.pair, self.dict = (M.Tanh(), [M.Linear(2, 2)]), {"a.b": M.Sigmoid()}

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            for layer in self.named.values():
                x = layer(x)
            return self.dict["a.b"](self.pair[1][0](self.pair[0](x)))

    x = ts.tensor(np.ones((2, 3), np.float32))
    traced = tm.trace_module(Net(), x)
    loaded = again(traced)
    assert same_bits(loaded(x), traced(x)) and repr(loaded) == repr(traced)
    assert loaded.named.keys() == ["norm", "more"] and len(loaded.layers) == 2
    assert type(loaded.pair) is tuple and type(loaded.dict) is dict


@pytest.mark.parametrize("kind", ["forward_pre", "forward", "backward"])
def test_hooks_are_refused(kind):
    traced = tm.trace_module(Outer(M.ReLU()), ts.tensor([1.0]))
    getattr(traced.part, f"register_{kind}_hook")(print)
    wanted = (
        f"^save: modules in a traced module must have no hooks, which are code, got {kind}_hooks "
        f"of part, a ReLU$"
    )
    with pytest.raises(TypeError, match=wanted):
        again(traced)


def test_a_class_that_nobody_registered_is_refused():
    class Mine(M.Module):
        def forward(self, x):
            return x

    holder = tm.TracedModule("Holder")
    holder.mine = Mine()
    wanted = (
        r"^save: classes of modules must be of the package or registered by register_as_builtin, "
        r"got test_a_class_.*Mine at mine, a Mine$"
    )
    with pytest.raises(TypeError, match=wanted):
        again(holder)
