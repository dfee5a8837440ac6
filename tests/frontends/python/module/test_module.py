"""tessera.module: the tree of modules, its parts by name, hooks and modes."""

import gc
import weakref
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
import tessera
from tessera import jit
from tessera import module as M  # noqa: N812
from tessera.utils.module_utils import get_expand_structure, set_expand_structure

from tests.support.helper import floats

Pair = namedtuple("Pair", "first second")


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.conv = M.Conv2d(1, 2, 3)
        self.layers = [M.Linear(4, 3), {"inner": M.Linear(3, 2, bias=False)}]
        self.scale = tessera.Parameter(np.ones(1, dtype=np.float32))
        self.count = tessera.Tensor(np.zeros(2, dtype=np.float32))

    def forward(self, x):
        return self.layers[1]["inner"](self.layers[0](x)) * self.scale


NAMES = [
    "conv.bias",
    "conv.weight",
    "layers.0.bias",
    "layers.0.weight",
    "layers.1.inner.weight",
    "scale",
]


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


def test_names():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_buffers()] == ["count"]
    assert [name for name, _ in net.named_tensors()] == [*NAMES[:2], "count", *NAMES[2:]]
    assert [name for name, _ in net.named_children()] == ["conv", "layers.0", "layers.1.inner"]
    assert [name for name, _ in net.named_modules()] == ["", "conv", "layers.0", "layers.1.inner"]
    assert [name for name, _ in net.named_parameters(prefix="net", recursive=False)] == [
        "net.scale"
    ]
    assert list(net.modules())[0] is net and len(list(net.children())) == 3


def test_shared_modules_and_cycles_are_met_once():
    net = M.Sequential(M.Linear(2, 2), M.Identity())
    net.again, net.me = net[0], net
    assert len(list(net.parameters())) == 2 and len(list(net.modules())) == 3


def test_the_first_name_in_order_is_that_of_a_shared_object():
    net = M.Sequential()
    net.b = net.a = M.Linear(2, 2)
    net.d = {"z": tensor(1), "c": tensor(1)}
    assert [n for n, _ in net.named_tensors()] == ["a.bias", "a.weight", "d.c", "d.z"]


def test_walks_with_parents():
    net = Net()
    assert [(n, p) for n, _, p in net.named_modules(with_parent=True)][:2] == [
        ("", None),
        ("conv", net),
    ]
    owners = {name: owner for name, _, owner in net.named_parameters(with_parent=True)}
    assert owners["scale"] is net and owners["layers.1.inner.weight"] is net.layers[1]["inner"]
    assert list(net.modules(with_parent=True))[0] == (net, None)
    assert list(net.children(with_parent=True)) == [(m, net) for m in net.children()]
    assert [p for _, p in net.buffers(with_parent=True)] == [net]
    assert next(iter(net.parameters(with_parent=True)))[1] is net.conv
    assert next(iter(net.tensors(with_parent=True)))[0] is net.conv.bias
    walks = net.named_tensors, net.named_buffers, net.named_children
    assert all(len(row) == 3 for walk in walks for row in walk(with_parent=True))


def test_train_and_eval_reach_every_module():
    net = Net()
    assert net.eval() is net and not any(m.training for m in net.modules())
    assert net.train() is net and all(m.training for m in net.modules())


def test_hooks():
    net, calls = M.Linear(2, 2), []
    first = net.register_forward_pre_hook(lambda m, x: calls.append("pre") or (x[0] * 0,))
    second = net.register_forward_hook(lambda m, x, y: calls.append("post") or y + 1)
    assert net(tensor(1, 2)).tolist() == [[1.0, 1.0]] and calls == ["pre", "post"]
    first.remove()
    second.remove()
    second.remove()
    net(tensor(1, 2))
    assert calls == ["pre", "post"]


def test_a_hook_removes_itself_while_it_runs():
    net, calls = M.Linear(2, 2), []

    def once(module, inputs):
        calls.append(inputs)
        handle.remove()

    handle = net.register_forward_pre_hook(once)
    net(tensor(1, 2))
    net(tensor(1, 2))
    assert len(calls) == 1


def test_apply_visits_the_outermost_first():
    seen = []
    Net().apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Net", "Conv2d", "Linear", "Linear"]


def test_train_goes_through_each_module():
    class Frozen(M.BatchNorm2d):
        def train(self, mode=True, recursive=True):
            return super().train(False, recursive)

    net = M.Sequential(Frozen(2), M.Dropout(0.5))
    assert net.train() is net and net[1].training and not net[0].training
    assert net.train(False, recursive=False) is net and net[1].training and not net.training


def test_zero_grad_and_replace_param():
    net = M.Linear(2, 2)
    net.weight.grad = tensor(2, 2)
    net.zero_grad()
    assert net.weight.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert net.replace_param([tensor(2), tensor(2, 2)]) == 2
    assert net.bias.tolist() == tensor(2).tolist()


def test_errors_name_the_module_path():
    net = M.Sequential(OrderedDict(body=M.Sequential(M.Identity(), M.Linear(4, 2))))
    with pytest.raises(ValueError, match=r"body.*1"):
        net(tensor(1, 3))


def test_a_module_goes_without_gc():
    gc.disable()
    try:
        net = Net()
        net(tensor(2, 4))
        ref = weakref.ref(net.conv.weight)
        del net
        assert ref() is None
    finally:
        gc.enable()


def test_repr():
    text = repr(M.Sequential(M.Conv2d(1, 2, 3, padding=1), M.ReLU()))
    assert (
        text
        == "Sequential(\n  (0): Conv2d(1, 2, kernel_size=(3, 3), padding=(1, 1))\n  (1): ReLU()\n)"
    )


def test_sequential_indexing():
    net = M.Sequential(*[M.Identity() for _ in range(12)])
    assert len(net) == 12 and [n for n, _ in net.named_children()][:4] == ["0", "1", "10", "11"]
    assert net[-1] is list(net)[11] and len(net[2:5]) == 3
    with pytest.raises(TypeError, match="Sequential: layers must be callable, got int"):
        M.Sequential(3)


def test_module_list_and_dict():
    layers = M.ModuleList([M.Identity(), M.ReLU()])
    layers.append(M.Sigmoid())
    assert len(layers) == 3 and isinstance(layers[-1], M.Sigmoid) and len(layers[1:]) == 2
    named = M.ModuleDict({"a": M.ReLU()})
    named["b"] = M.Linear(1, 1)
    assert named.keys() == ["a", "b"] and [n for n, _ in named.named_parameters()] == [
        "b.bias",
        "b.weight",
    ]
    with pytest.raises(KeyError, match="ModuleDict: name must not be one of Module's own"):
        named["forward"] = M.ReLU()


def test_repr_shows_a_child_under_each_name_in_the_order_of_definition():
    class Twice(M.Module):
        def __init__(self):
            super().__init__()
            self.b = self.a = M.ReLU()
            self.parts = {"z": M.ReLU(), "c": self}

        def forward(self, x):
            return self.a(x)

    lines = [
        "Twice(",
        "  (b): ReLU()",
        "  (a): ReLU()",
        "  (parts.z): ReLU()",
        "  (parts.c): ...",
        ")",
    ]
    assert repr(Twice()) == "\n".join(lines)


def test_forward_must_be_given():
    class Empty(M.Module):
        pass

    for kind in (M.Module, Empty):
        with pytest.raises(NotImplementedError, match=f"^{kind.__name__}: forward must be given"):
            kind()(1)
    with pytest.raises(NotImplementedError, match="ModuleList: forward must be given, got none"):
        M.ModuleList()(1)


def test_names_of_modules_are_not_empty():
    assert M.ReLU(name="act").name == "act" and M.ReLU().name is None
    for name in ("", "  "):
        with pytest.raises(ValueError, match="ReLU: name must not be empty, got '"):
            M.ReLU(name=name)
    with pytest.raises(TypeError, match="ReLU: name must be a string, got 3"):
        M.ReLU(name=3)


def test_modules_are_assigned_after_init():
    class Early(M.Module):
        def __init__(self, part):
            self.part = part
            super().__init__()

        def forward(self, x):
            return x

    for part in (M.ReLU(), [M.ReLU()]):
        with pytest.raises(AttributeError, match=r"Early: super\(\).__init__\(\) must run before"):
            Early(part)
    assert Early((1, 2)).part == (1, 2)


def test_keys_of_parts_are_strings():
    net = Net()
    with pytest.raises(TypeError, match=r"Module: keys in parts must be strings, got 3"):
        net.parts = {3: M.ReLU()}
    assert not hasattr(net, "parts")
    net.parts = {3: "no module"}
    with pytest.raises(TypeError, match="ModuleDict: name must be a string, got 3"):
        M.ModuleDict({3: M.ReLU()})
    net.parts[3] = M.ReLU()
    with pytest.raises(TypeError, match=r"Module: keys in parts must be strings, got 3"):
        net.state_dict()


def test_summary():
    net = M.Sequential(M.Conv2d(1, 2, 3), M.BatchNorm2d(2), M.Flatten(), M.Linear(72, 3))
    net.again = net[3]
    before = net.state_dict()
    summary = net.summary(jit.Spec((4, 1, 8, 8)))
    assert [layer.name for layer in summary.layers] == ["", "0", "1", "2", "3"]
    assert [layer.parameters for layer in summary.layers] == [0, 20, 4, 0, 219]
    assert summary.parameters == 243 and summary.parameter_bytes == 4 * 243
    assert [layer.results for layer in summary.layers[1:4]] == [
        ((4, 2, 6, 6),),
        ((4, 2, 6, 6),),
        ((4, 72),),
    ]
    assert summary.layers[-1].result_bytes == 4 * 4 * 3
    assert str(summary).endswith("\ntotal                      243    972")
    assert str(net.summary()).splitlines()[0] == "name   module       parameters  bytes"
    after = net.state_dict()  # nothing was computed, and the hooks are gone
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert not any(each._forward_hooks for each in net.modules())
    with pytest.raises(ValueError, match="conv2d"):
        net.summary(jit.Spec((4, 3, 8, 8)))
    assert not any(each._forward_hooks for each in net.modules())


class Nest(M.Module):
    def __init__(self):
        super().__init__()
        self.a = [M.Linear(2, 2), {"x": M.ReLU(), "dotted.name": M.ReLU()}, (M.ReLU(), [M.ReLU()])]
        self.pair = Pair(M.ReLU(), M.ReLU())
        self.body = M.Sequential(M.ReLU(), M.Linear(2, 2))

    def forward(self, x):
        return x


def test_every_name_leads_to_its_part():
    net = Nest()
    parts = [*net.named_modules(), *net.named_tensors()]
    assert len(parts) == 15
    assert all(get_expand_structure(net, name) is part for name, part in parts)
    assert get_expand_structure(net, "body.1.out_features") == 2


PARTS = ["a.0", "a.1.x", "a.1.dotted.name", "a.2.0", "a.2.1.0", "pair.1", "body.0"]


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_replaced(name):
    net, new = Nest(), M.Sigmoid()
    before = dict(net.named_children())
    set_expand_structure(net, name, new)
    assert get_expand_structure(net, name) is new
    after = dict(net.named_children())
    assert list(before) == list(after)
    assert [n for n in before if before[n] is not after[n]] in ([name], [])  # [] for body.0
    assert type(net.pair) is Pair and type(net.a[2]) is tuple


def test_a_sequential_runs_what_was_put_in():
    net = Nest()
    set_expand_structure(net, "body.0", M.Sigmoid())
    assert [type(each) for each in net.body] == [M.Sigmoid, M.Linear]


@pytest.mark.parametrize("key", ["b", "a.3", "a.-1", "a.x", "a.1.y", "body.2.weight"])
def test_a_key_that_leads_nowhere_is_refused(key):
    net = Nest()
    with pytest.raises(KeyError, match=f"get_expand_structure: key must lead .*got '{key}'"):
        get_expand_structure(net, key)
    with pytest.raises(KeyError, match=f"set_expand_structure: key must lead .*got '{key}'"):
        set_expand_structure(net, key, 1)


def test_what_cannot_change_is_refused():
    net = Nest()
    with pytest.raises(
        TypeError, match=r"set_expand_structure: body.0.__class__.__name__ must lead"
    ):
        set_expand_structure(net, "body.0.__class__.__name__", 1)
