"""trace_module: modules below a module, their containers, methods, hooks and calls."""

import copy
import gc
import io
import warnings
import weakref

import numpy as np
import pytest
import tessera as ts
import tessera.functional as F  # noqa: N812
import tessera.module as M  # noqa: N812
import tessera.traced_module as tm
from tessera import jit

from tests.frontends.python.traced_module.nets import check_same, check_traced, floats, lines, net


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize(
    "names", [("flatten", "graph"), ("graphs", "class_name"), ("variant", "add_graph", "dump")]
)
def test_attributes_with_names_of_traced_modules(names):
    def forward(self, x):
        return sum(getattr(self, name)(x).sum() for name in names)

    module = net(forward, **{name: M.Linear(3, 3) for name in names})
    traced, x = tm.trace_module(module, floats(2, 3)), floats(4, 3)
    file = io.BytesIO()
    ts.save(traced, file)
    file.seek(0)
    for each in (traced, tm.TracedModule.flatten(traced), ts.load(file), copy.deepcopy(traced)):
        assert each(x).tolist() == module(x).tolist()


def test_one_module_under_two_names():
    linear = M.Linear(3, 3)
    module = net(lambda self, x: self.a(self.b(self.a(x))), a=linear, b=linear)
    traced = check_traced(module, floats(2, 3))
    assert traced.a is traced.b and lines(traced.graph)[1:] == [
        "a_out = a(x, )", "a_out_1 = a(a_out, )", "a_out_2 = a(a_out_1, )",
    ]  # fmt: skip


class Inner(M.Module):
    def __init__(self, factor=1):
        super().__init__()
        self.linear, self.factor = M.Linear(3, 3), factor
        self.weight = ts.Parameter([2.0])

    def encode(self, x):
        return self.linear(x) * self.weight

    def forward(self, x, double=False):
        x = self.linear(x) * self.factor
        return x * 2 if double else x


def test_calls_of_one_module_in_two_ways():
    module = net(lambda self, x: self.inner(self.inner(self.inner(x)), double=True), inner=Inner())
    traced = check_traced(module, floats(2, 3), again=[(floats(4, 3),)])
    assert len(traced.inner.graphs) == 2
    assert lines(traced.graph)[-1] == "inner_out_2 = inner[1](inner_out_1, double=True)"


def test_modules_in_containers():
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        for layer in self.named.values():
            x = layer(x)
        x = self.table["a"](x)
        for number in range(len(self.list)):
            x = self.list[number](x)
        return x * self.weights[1]

    module = net(
        forward,
        layers=[Inner(1), Inner(2)],
        list=M.ModuleList([Inner(3), M.ReLU()]),
        named=M.ModuleDict({"q": Inner(4)}),
        table={"a": Inner(5)},
        weights=[ts.Parameter([1.0]), ts.Parameter([2.0])],
    )
    traced = check_traced(module, floats(2, 3), again=[(floats(4, 3),)])
    assert list(traced.state_dict()) == list(module.state_dict())


def test_items_of_containers_are_written():
    def forward(self, x):
        hidden = F.tanh(self.states[0] + x.sum(0))
        self.states[0] = hidden
        self.named["a"] = self.states[-1] * 2
        return hidden + self.states[0] + self.named["a"]

    module = net(forward, states=[F.zeros(3)], named={"a": F.zeros(3)})
    traced = tm.trace_module(module, floats(2, 3))
    assert module.states[0].tolist() == [0.0] * 3
    for seed in range(3):
        x = floats(2, 3, seed=seed)
        np.testing.assert_array_equal(traced(x).numpy(), module(x).numpy())
    assert traced.states[0].tolist() == module.states[0].tolist()


def test_state_of_a_child_that_is_called_twice():
    def inner(self, x):
        self.hidden = F.tanh(x.sum(0) + self.hidden)
        return x * self.hidden

    child = net(inner, hidden=F.zeros(3))
    module = net(lambda self, x: self.child(self.child(x)) + self.child.hidden, child=child)
    traced = tm.trace_module(module, floats(2, 3))
    flat = traced.flatten()
    wanted = [module(floats(2, 3, seed=seed)) for seed in range(3)]
    for each in (traced, flat):
        for seed in range(3):
            check_same(each(floats(2, 3, seed=seed)), wanted[seed])


def test_another_method_of_a_child():
    module = net(lambda self, x: self.inner.encode(x) + self.inner.weight, inner=Inner())
    traced = check_traced(module, floats(2, 3), again=[(floats(4, 3),)])
    with pytest.raises(
        RuntimeError, match=r"^Inner: it was not called .*, so that it has no graph"
    ):
        traced.inner(floats(2, 3))


def test_subclass_of_sequential():
    class Net(M.Sequential):
        def forward(self, x):
            return super().forward(x) + 1

    check_traced(Net(M.Linear(3, 4), M.ReLU()), floats(2, 3), again=[(floats(5, 3),)])


def test_python_of_classes():
    class Base(M.Module):
        def __init__(self):
            super().__init__()
            self.linear = M.Linear(3, 3)

        def __getattr__(self, name):
            return self.linear if name == "alias" else object.__getattribute__(self, name)

        @property
        def doubled(self):
            return self.linear.weight * 2

        def forward(self, x):
            return F.linear(self.alias(x), self.doubled, self.linear.bias)

    class Net(Base):
        @staticmethod
        def twice(x):
            return x * 2

        @classmethod
        def more(cls, x):
            return x + 1

        def forward(self, x):
            return self.more(self.twice(super().forward(x))) if not hasattr(self, "no") else x

    check_traced(Net(), floats(2, 3), again=[(floats(5, 3),)])


def test_hooks():
    linear = M.Linear(3, 3)
    module = net(lambda self, x: self.inner(x), inner=M.Sequential(linear))
    linear.register_forward_hook(lambda module, inputs, output: output * 2)
    module.inner.register_forward_hook(lambda module, inputs, output: output + 1)
    module.register_forward_pre_hook(lambda module, inputs: (inputs[0] * 3,))
    check_traced(module, floats(2, 3))


def test_a_module_as_argument():
    inner = net(lambda self, x, act: act(x) + 1)
    check_traced(
        net(lambda self, x: self.inner(x, self.relu), inner=inner, relu=M.ReLU()), floats(2)
    )


def test_traced_methods():
    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.drop = M.Linear(3, 2), M.Dropout(0.5)

        @jit.trace(symbolic=True)
        def forward(self, x):
            return self.double(self.drop(self.linear(x)))

        @jit.trace
        def double(self, x):
            return x * 2

    module = Net()
    check_traced(module, floats(2, 3), again=[(floats(4, 3),)])
    check_traced(net(lambda self, x: self.inner(x) + 1, inner=module), floats(2, 3))


def test_nothing_is_kept():
    module = M.Sequential(Inner(), M.Linear(3, 3))
    x = floats(2, 3)
    traced = tm.trace_module(module, x)
    kept = [weakref.ref(each) for each in (module, module[1], module[1].weight, x, traced)]
    del module, x, traced
    gc.collect()
    assert [each() for each in kept] == [None] * 5
