"""tessera.module: the tree of modules, its state, and the layers."""

import copy
import gc
import pickle
import weakref
from collections import OrderedDict

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import module as M  # noqa: N812

from tests.python.helper import assert_close, floats


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


def test_linear():
    net = M.Linear(4, 3)
    x = floats(5, 4, seed=1)
    assert_close(net(tessera.Tensor(x)), x @ net.weight.numpy().T + net.bias.numpy())
    assert net.weight.numpy().std() > 0 and net.bias.tolist() == [0, 0, 0]


@pytest.mark.parametrize("groups", [1, 2])
def test_conv2d_shapes(groups):
    net = M.Conv2d(4, 6, (3, 2), stride=2, padding=1, groups=groups)
    expected = (6, 4, 3, 2) if groups == 1 else (2, 3, 2, 3, 2)
    assert tuple(net.weight.shape) == expected and tuple(net.bias.shape) == (1, 6, 1, 1)
    assert tuple(net(tensor(2, 4, 7, 7)).shape) == (2, 6, 4, 4)
    with pytest.raises(ValueError, match="Conv2d: groups must divide the channels, got 3"):
        M.Conv2d(4, 6, 3, groups=3)


def test_batch_norm_in_training_and_inference():
    net, x = M.BatchNorm2d(3), floats(4, 3, 5, 5, seed=2) * 3 + 1
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    wide = x.astype(np.float64)
    expected = (wide - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5)
    assert_close(net(tessera.Tensor(x)), expected, rtol=1e-4, atol=1e-5)
    assert_close(net.running_mean, (0.1 * mean).reshape(1, 3, 1, 1), rtol=1e-5)
    net.eval()
    a = 1 / np.sqrt(net.running_var.numpy() + 1e-5)
    expected = (wide - net.running_mean.numpy()) * a
    assert_close(net(tessera.Tensor(x)), expected, rtol=1e-4, atol=1e-5)
    net.reset_running_stats()
    assert net.running_mean.numpy().max() == 0 and net.running_var.numpy().min() == 1


def test_batch_norm_frozen_or_without_statistics():
    x = tensor(4, 3, 5, 5)
    frozen = M.BatchNorm2d(3, freeze=True)
    frozen(x)
    assert frozen.running_mean.numpy().max() == 0
    free = M.BatchNorm2d(3, track_running_stats=False, affine=False).eval()
    assert abs(free(x).numpy().mean()) < 1e-5 and not list(free.tensors())


@pytest.mark.parametrize("shape", [(6, 3), (6, 3, 4)])
def test_batch_norm_1d(shape):
    x = floats(*shape)
    y = M.BatchNorm1d(3)(tessera.Tensor(x)).numpy()
    axes = (0,) if len(shape) == 2 else (0, 2)
    assert y.shape == shape and np.abs(y.mean(axes)).max() < 1e-6


def test_dropout_in_training_only():
    layer, x = M.Dropout(0.25), tessera.Tensor(np.ones(10_000, dtype=np.float32))
    kept = layer(x).numpy()
    assert set(np.unique(kept)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((kept == 0).mean() - 0.25) < 0.02
    assert layer.eval()(x).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("layer", "function"),
    [
        (M.ReLU(), F.relu),
        (M.Sigmoid(), F.sigmoid),
        (M.SiLU(), F.silu),
        (M.GELU(), F.gelu),
        (M.LeakyReLU(0.2), lambda x: F.leaky_relu(x, 0.2)),
        (M.Softmax(axis=1), lambda x: F.softmax(x, 1)),
        (M.Flatten(), lambda x: x.reshape(2, 12)),
        (M.Identity(), lambda x: x),
        (M.Elemwise("exp"), F.exp),
    ],
)
def test_layers_are_their_functions(layer, function):
    x = tensor(2, 3, 4)
    assert layer(x).tolist() == function(x).tolist()


def test_pooling_layers():
    x = tensor(1, 2, 4, 4)
    assert M.MaxPool2d(2)(x).tolist() == F.max_pool2d(x, 2).tolist()
    assert M.AvgPool2d(2, stride=1)(x).tolist() == F.avg_pool2d(x, 2, 1).tolist()
    assert_close(M.AdaptiveAvgPool2d(1)(x), x.numpy().mean((2, 3), keepdims=True), rtol=1e-5)
    y = M.AdaptiveAvgPool2d((3, 2))(x).numpy()
    assert y.shape == (1, 2, 3, 2)
    assert_close(y[0, 0, 1, 1], x.numpy()[0, 0, 1:3, 2:4].mean(), rtol=1e-5)


def test_elemwise_and_concat():
    a, b = tensor(2, 3, seed=1), tensor(2, 3, seed=2)
    assert M.Elemwise("FUSE_ADD_RELU")(a, b).tolist() == F.relu(a + b).tolist()
    assert M.Concat()([a, b], 1).shape == (2, 6)
    with pytest.raises(
        ValueError, match="Elemwise: method must name an elementwise function, got 'no'"
    ):
        M.Elemwise("no")


INITS = [
    (lambda t: M.init.xavier_uniform_(t), np.sqrt(2 / (300 + 200))),
    (lambda t: M.init.xavier_normal_(t), np.sqrt(2 / (300 + 200))),
    (lambda t: M.init.msra_uniform_(t), np.sqrt(2 / 200)),
    (lambda t: M.init.msra_normal_(t, mode="fan_out"), np.sqrt(2 / 300)),
    (lambda t: M.init.normal_(t, 0.0, 3.0), 3.0),
    (lambda t: M.init.uniform_(t, -1.0, 1.0), np.sqrt(1 / 3)),
]


@pytest.mark.parametrize(("fill", "std"), INITS)
def test_init(fill, std):
    weight = tessera.Parameter(np.zeros((300, 200), dtype=np.float32))
    fill(weight)
    values = weight.numpy()
    assert abs(values.std() / std - 1) < 0.02 and abs(values.mean()) < 0.02 * std


def test_init_arguments():
    assert M.init.calculate_gain("leaky_relu", 1) == 1
    assert M.init.calculate_fan_in_and_fan_out(tensor(6, 4, 3, 3)) == (36, 54)
    with pytest.raises(ValueError, match="init: a tensor with fans must have 2 axes"):
        M.init.msra_normal_(tensor(3))
    with pytest.raises(ValueError, match="init: mode must be one of"):
        M.init.msra_normal_(tensor(3, 3), mode="fan")
    with pytest.raises(ValueError, match="calculate_gain: nonlinearity must be one of"):
        M.init.calculate_gain("no")


def test_forward_must_be_given():
    with pytest.raises(NotImplementedError, match="Module: forward must be given"):
        M.Module()()
