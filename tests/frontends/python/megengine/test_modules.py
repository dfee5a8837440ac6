"""Modules."""

import copy
import io
import pickle
import weakref

import numpy as np
import pytest
import tessera
import tessera.functional as F  # noqa: N812
from tessera import Parameter, Tensor, jit
from tessera import module as M  # noqa: N812
from tessera.utils.module_utils import get_expand_structure, set_expand_structure

from tests.support.helper import assert_close, bits, floats, same_bits


class Net(M.Module):
    """Its parts are defined against the order of their names."""

    def __init__(self):
        super().__init__()
        self.second = M.Linear(4, 3)
        self.first = M.Linear(4, 4)
        self.act = F.relu
        self.many = [M.Elemwise("add"), {"inner": M.ReLU()}]

    def forward(self, x):
        return self.second(self.act(self.first(x)))


def test_b40_walks_go_by_name():
    """Parameters, children and state_dict come by the names of attributes, repr as defined."""
    net = Net()
    assert [name for name, _ in net.named_children()] == ["first", "many.0", "many.1.inner",
                                                          "second"]  # fmt: skip
    wanted = ["first.bias", "first.weight", "second.bias", "second.weight"]
    assert [name for name, _ in net.named_parameters()] == wanted == list(net.state_dict())
    assert repr(net).index("(second)") < repr(net).index("(first)")


def test_b41_with_the_owner():
    """with_parent adds the module that holds each, and parts are reached through containers."""
    net = Net()
    rows = list(net.named_modules(with_parent=True))
    assert rows[0] == ("", net, None) and all(row[2] is net for row in rows[1:])
    assert [owner for _, owner in net.parameters(with_parent=True)] == [
        net.first, net.first, net.second, net.second]  # fmt: skip
    assert get_expand_structure(net, "many.1.inner") is net.many[1]["inner"]
    other = M.Sigmoid()
    set_expand_structure(net, "many.1.inner", other)
    assert net.many[1]["inner"] is other


def test_b42_a_child_of_two_names_is_shown_under_each():
    """repr shows a shared child under each of its names."""
    net = Net()
    net.third = net.first
    assert repr(net).count("Linear") == 3 and "(third)" in repr(net)


def test_b43_whole_modules_are_saved():
    """save takes modules, load brings them back with allow_code, shared parameters shared."""
    net = Net()
    net.second.bias = net.first.bias
    stream = io.BytesIO()
    tessera.save(net, stream)
    stream.seek(0)
    with pytest.raises(ValueError, match="allow_code"):
        tessera.load(stream)
    stream.seek(0)
    again = tessera.load(stream, allow_code=True)
    assert again.second.bias is again.first.bias
    assert same_bits(again.first(Tensor(floats(2, 4))), net.first(Tensor(floats(2, 4))))


def test_e02_functions_are_copied_and_pickled():
    """Functions and modules that hold them are copied, pickled and weakly referenced."""
    net = Net()
    again = pickle.loads(pickle.dumps(net))
    x = Tensor(floats(2, 4))
    assert same_bits(again(x), net(x)) and same_bits(copy.deepcopy(net)(x), net(x))
    assert pickle.loads(pickle.dumps(F.relu)) is F.relu is copy.deepcopy(F.relu)
    assert weakref.ref(F.relu)() is F.relu
    for function in (F.sort, F.transpose, F.argmax, F.non_zero):
        assert pickle.loads(pickle.dumps(function)) is function


def test_e03_recordings_stay_behind():
    """A module whose method is traced is copied and pickled without its recordings."""
    net = Net()
    net.run = jit.trace(net.forward)
    x = Tensor(floats(2, 4))
    wanted = [net.run(x) for _ in range(3)][-1]
    assert same_bits(copy.deepcopy(net).run(x), wanted)


@pytest.mark.parametrize("make", [lambda: M.BatchNorm2d(3), lambda: M.GroupNorm(1, 3),
                                  lambda: M.InstanceNorm(3), lambda: M.LayerNorm(3)])  # fmt: skip
def test_e04_entries_of_norms_have_one_axis(make):
    """Entries of normalisations have one axis, and any shape of as many elements is loaded."""
    layer = make()
    state = layer.state_dict()
    assert all(array.ndim == 1 for array in state.values())
    for shape in ((3,), (1, 3, 1, 1)):
        values = {name: np.full(shape, 5, np.float32) for name in state}
        layer.load_state_dict(values)
        assert layer.weight.tolist() == np.full(layer.weight.shape, 5.0).tolist()


def test_e05_tied_parameters_have_every_name():
    """state_dict lists a tied parameter under each of its names; one of them suffices to load."""
    net = Net()
    net.second.bias = net.first.bias = Parameter(floats(4))
    state = net.state_dict()
    assert {"first.bias", "second.bias"} <= {*state}
    net.load_state_dict({name: state[name] for name in state if name != "second.bias"})
    net.load_state_dict(state)


def test_e06_none_leaves_a_tensor():
    """A value None leaves a tensor as it is, which strict refuses."""
    net = Net()
    before = bits(net.first.weight)
    nothing = dict.fromkeys(net.state_dict())
    assert set(net.load_state_dict(nothing, strict=False)) == {*nothing}
    assert bits(net.first.weight) == before
    for given in (nothing, lambda name, value: None):
        with pytest.raises(KeyError, match="missing"):
            net.load_state_dict(given, strict=True)


def test_e07_what_a_module_must_be():
    """A name, a base that is made first and string keys; train may leave what is below. A module
    without forward says so when it is called, as PyTorch's: MegEngine's cannot be made.
    """
    with pytest.raises(NotImplementedError, match="Module: forward must be given, got none"):
        M.Module()(1)
    with pytest.raises(ValueError, match="name must not be empty"):
        M.Linear(1, 1, name="")

    class Early(Net):
        def __init__(self):
            self.part = M.ReLU()

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\) must run before modules"):
        Early()
    net = Net()
    with pytest.raises(TypeError, match="keys in parts must be strings, got 1"):
        net.parts = {1: M.ReLU()}
    net.train(False, recursive=False)
    assert not net.training and net.first.training
    seen = []
    net.apply(seen.append)
    assert seen[0] is net and len(seen) == 5


def test_e08_megengines_attention_and_embedding():
    """Weights of MegEngine's attention are converted; Embedding refuses what it cannot do."""
    layer = M.MultiHeadAttention(4, 2)
    assert layer.state_dict()
    for given in ({"max_norm": 1.0}, {"norm_type": 2.0}):
        with pytest.raises(ValueError, match="Embedding"):
            M.Embedding(3, 2, **given)
    assert M.Embedding(3, 2, padding_idx=None, max_norm=None, norm_type=None)


@pytest.mark.parametrize(
    ("kind", "shapes", "text"),
    [(M.BatchNorm1d, [(4, 3), (4, 3, 5)], "2D or 3D"), (M.BatchNorm2d, [(4, 3, 5, 6)], "4D"),
     (M.BatchNorm3d, [(4, 3, 5, 6, 2)], "5D"),
     (M.SyncBatchNorm, [(4, 3), (4, 3, 5), (4, 3, 5, 6)], "2D or 3D or 4D")],
)  # fmt: skip
def test_e09_batch_norm_checks_its_rank(kind, shapes, text):
    """A batch normalisation takes inputs of its ranks only."""
    for shape in ((4, 3), (4, 3, 5), (4, 3, 5, 6), (4, 3, 5, 6, 2)):
        x = Tensor(floats(*shape))
        if shape in shapes:
            got, rest = kind(3)(x).numpy(), tuple(i for i in range(len(shape)) if i != 1)
            assert_close(got.mean(rest), np.zeros(3), atol=1e-5)
            continue
        message = f"{kind.__name__}: expected {text} input, got {len(shape)}D input of shape"
        with pytest.raises(ValueError, match=message):
            kind(3)(x)


def test_e09_inference_wants_statistics():
    """batch_norm in inference without running statistics is an error."""
    x, one = Tensor(floats(2, 3, 4, 4)), F.ones((1, 3, 1, 1))
    for given, missing in (((), "running_mean"), ((None, one), "running_mean"),
                           ((one,), "running_var")):  # fmt: skip
        with pytest.raises(ValueError, match=f"must be given without training, got no {missing}"):
            F.batch_norm(x, *given)


@pytest.mark.parametrize("wrap", [lambda f: f, jit.trace], ids=["eager", "traced"])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_e09_half_inputs_beside_full_parameters(dtype, training, wrap):
    """An input of half precision beside float32 parameters gives one of its dtype, computed in
    float32 and rounded once; gradients have the dtypes of their tensors.
    """
    layer = M.BatchNorm2d(3).train(training)
    layer.weight.set_value(floats(1, 3, 1, 1, low=0.5))
    x = Parameter(Tensor(floats(4, 3, 5, 5)).astype(dtype))
    manager = tessera.autodiff.GradManager().attach([x, layer.weight])
    wide = copy.deepcopy(layer)(x.astype("float32"))

    @wrap
    def step():
        with manager:
            y = layer(x)
            manager.backward((y * y).sum())
        return y

    assert same_bits(step(), wide.astype(dtype))
    for _ in range(2):
        assert step().dtype == dtype
    assert x.grad.dtype == dtype and layer.weight.grad.dtype == "float32"
    plain = F.batch_norm(x, layer.running_mean, layer.running_var, training=training)
    assert plain.dtype == dtype


def test_quantization_is_switched_off_below():
    """disable_quantize sets quantize_disabled here and below, and returns the module."""
    net = Net()
    assert not net.quantize_disabled and net.disable_quantize() is net
    assert all(module.quantize_disabled for module in net.modules())
    net.disable_quantize(False)
    assert not any(module.quantize_disabled for module in net.modules())
    assert pickle.loads(pickle.dumps(net.disable_quantize())).first.quantize_disabled
