"""tessera.module: the tree of modules, its state, and the layers."""

import copy
import gc
import pickle
import weakref
from collections import OrderedDict

import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812

from tests.python.helper import floats


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
    "conv.weight",
    "conv.bias",
    "layers.0.weight",
    "layers.0.bias",
    "layers.1.inner.weight",
    "scale",
]


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


def test_names():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_buffers()] == ["count"]
    assert [name for name, _ in net.named_tensors()] == [*NAMES, "count"]
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


def test_state_dict_is_read_only_and_round_trips():
    net, other = Net(), Net()
    state = net.state_dict()
    assert list(state) == [*NAMES, "count"] and all(
        isinstance(v, np.ndarray) for v in state.values()
    )
    with pytest.raises(ValueError, match="read-only"):
        state["scale"][0] = 2
    kept = list(other.parameters())
    assert other.load_state_dict(state) == []
    assert all(
        np.array_equal(a, b)
        for a, b in zip(state.values(), other.state_dict().values(), strict=True)
    )
    assert all(a is b for a, b in zip(kept, other.parameters(), strict=True))
    assert net.state_dict(keep_var=True)["scale"] is net.scale


def test_state_dict_does_not_follow_later_changes():
    net = M.Linear(2, 2)
    before = net.state_dict()["weight"].copy()
    state = net.state_dict()
    M.init.fill_(net.weight, 3)
    assert np.array_equal(state["weight"], before)


def test_load_state_dict_strict():
    net = Net()
    state = OrderedDict(net.state_dict())
    state["other"] = state.pop("scale")
    with pytest.raises(
        KeyError, match=r"of Net, got missing \['scale'\] and unexpected \['other'\]"
    ):
        net.load_state_dict(state)
    assert net.load_state_dict(state, strict=False) == ["scale"]


def test_load_state_dict_checks_all_shapes_before_it_changes_any():
    net = M.Linear(3, 2)
    before = net.state_dict()["bias"]
    wrong = {"bias": np.ones(2, dtype=np.float32), "weight": np.ones((2, 2), dtype=np.float32)}
    with pytest.raises(ValueError, match=r"got weight \(2, 2\) for \(2, 3\)"):
        net.load_state_dict(wrong)
    assert np.array_equal(net.state_dict()["bias"], before)


def test_load_state_dict_from_a_function():
    net = M.Linear(3, 2)
    weight = net.state_dict()["weight"]
    net.load_state_dict(lambda name, t: np.full(t.shape, 5) if name == "bias" else None)
    assert net.bias.tolist() == [5.0, 5.0] and np.array_equal(net.weight.numpy(), weight)


def test_state_dict_through_a_file(tmp_path):
    net, other = Net(), Net()
    tessera.save(net.state_dict(), tmp_path / "net")
    other.load_state_dict(tessera.load(tmp_path / "net"))
    assert np.array_equal(net.conv.weight.numpy(), other.conv.weight.numpy())


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


def test_apply_reaches_children_first():
    seen = []
    Net().apply(lambda m: seen.append(type(m).__name__))
    assert seen[-1] == "Net" and sorted(seen) == ["Conv2d", "Linear", "Linear", "Net"]


def test_zero_grad_and_replace_param():
    net = M.Linear(2, 2)
    net.weight.grad = tensor(2, 2)
    net.zero_grad()
    assert net.weight.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert net.replace_param([tensor(2, 2), tensor(2)]) == 2
    assert net.bias.tolist() == tensor(2).tolist()


def test_errors_name_the_module_path():
    net = M.Sequential(OrderedDict(body=M.Sequential(M.Identity(), M.Linear(4, 2))))
    with pytest.raises(ValueError, match=r"body.*1"):
        net(tensor(1, 3))


def test_copy_and_pickle():
    net = Net()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert [n for n, _ in other.named_parameters()] == NAMES
        assert np.array_equal(other.scale.numpy(), net.scale.numpy())
        M.init.fill_(other.scale, 9)
        assert net.scale.item() == 1


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
    assert len(net) == 12 and [n for n, _ in net.named_children()] == [str(i) for i in range(12)]
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
        "b.weight",
        "b.bias",
    ]
    with pytest.raises(KeyError, match="ModuleDict: name must not be one of Module's own"):
        named["forward"] = M.ReLU()


def test_forward_must_be_given():
    with pytest.raises(NotImplementedError, match="Module: forward must be given"):
        M.Module()()
