"""state_dict and load_state_dict of modules."""

from collections import OrderedDict

import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812

from tests.support.helper import floats

NAMES = ["0.bias", "0.weight", "1.bias", "1.running_mean", "1.running_var", "1.weight"]


def tensor(*shape, seed=0):
    return tessera.Tensor(floats(*shape, seed=seed))


def network():
    return M.Sequential(M.Conv2d(1, 2, 3), M.BatchNorm2d(2))


def same(a, b):
    return list(a) == list(b) and all(np.array_equal(a[name], b[name]) for name in a)


class Tied(M.Module):
    """One weight under two names, and one layer under two."""

    def __init__(self):
        super().__init__()
        self.embedding = M.Embedding(4, 3)
        self.head = M.Linear(3, 4, bias=False)
        self.head.weight = self.embedding.weight
        self.inner = self.outer = M.Linear(3, 3, bias=False)

    def forward(self, ids):
        return self.head(self.inner(self.embedding(ids)))


def test_state_dict_is_read_only_and_round_trips():
    net, other = network(), network()
    state = net.state_dict()
    assert list(state) == NAMES and all(isinstance(v, np.ndarray) for v in state.values())
    with pytest.raises(ValueError, match="read-only"):
        state["0.bias"][0] = 2
    kept = list(other.parameters())
    assert other.load_state_dict(state) == []
    assert same(other.state_dict(), state)
    assert all(a is b for a, b in zip(kept, other.parameters(), strict=True))
    assert net.state_dict(keep_var=True)["0.bias"] is net[0].bias
    assert list(net.state_dict(prefix="net"))[0] == "net.0.bias"


def test_state_dict_does_not_follow_later_changes():
    net = M.Linear(2, 2)
    before = net.state_dict()["weight"].copy()
    state = net.state_dict()
    M.init.fill_(net.weight, 3)
    assert np.array_equal(state["weight"], before)


def test_state_dict_through_a_file(tmp_path):
    net, other = network(), network()
    tessera.save(net.state_dict(), tmp_path / "net")
    other.load_state_dict(tessera.load(tmp_path / "net"))
    assert same(other.state_dict(), net.state_dict())


def test_strict_names():
    net = network()
    state = OrderedDict(net.state_dict())
    state["other"] = state.pop("0.bias")
    message = r"of Sequential, got missing \['0.bias'\] and unexpected \['other'\]"
    with pytest.raises(KeyError, match=message):
        net.load_state_dict(state)
    assert net.load_state_dict(state, strict=False) == ["0.bias"]


def test_all_shapes_are_checked_before_any_value_changes():
    net = M.Linear(3, 2)
    before = net.state_dict()["bias"]
    wrong = {"bias": np.ones(2, dtype=np.float32), "weight": np.ones((2, 2), dtype=np.float32)}
    with pytest.raises(ValueError, match=r"got weight \(2, 2\) for \(2, 3\)"):
        net.load_state_dict(wrong)
    flat = {"bias": np.ones(2, dtype=np.float32), "weight": np.ones(6, dtype=np.float32)}
    with pytest.raises(ValueError, match=r"got weight \(6,\) for \(2, 3\)"):
        net.load_state_dict(flat)
    assert np.array_equal(net.state_dict()["bias"], before)


def test_values_from_a_function():
    net = M.Linear(3, 2)
    weight = net.state_dict()["weight"]

    def five(name, parameter):
        return np.full(parameter.shape, 5) if name == "bias" else None

    with pytest.raises(KeyError, match=r"got missing \['weight'\]"):
        net.load_state_dict(five)
    assert net.bias.tolist() == [0.0, 0.0]
    assert net.load_state_dict(five, strict=False) == ["weight"]
    assert net.bias.tolist() == [5.0, 5.0] and np.array_equal(net.weight.numpy(), weight)


def test_none_leaves_a_tensor():
    net = M.Linear(3, 2)
    state = {"weight": None, "bias": tensor(2)}
    with pytest.raises(KeyError, match=r"got missing \['weight'\] and unexpected \[\]"):
        net.load_state_dict(state)
    assert net.load_state_dict(state, strict=False) == ["weight"]
    assert net.bias.tolist() == tensor(2).tolist()


def test_what_is_no_dict_is_refused():
    with pytest.raises(TypeError, match="state_dict must be a dict or a function, got list"):
        M.Linear(3, 2).load_state_dict([1])


NORMS = [
    (lambda: M.BatchNorm1d(6), (1, 6, 1, 1)),
    (lambda: M.BatchNorm2d(6), (1, 6, 1, 1)),
    (lambda: M.BatchNorm3d(6), (1, 6, 1, 1)),
    (lambda: M.GroupNorm(2, 6), (6,)),
    (lambda: M.InstanceNorm(6), (6,)),
    (lambda: M.LayerNorm((2, 3)), (2, 3)),
    (lambda: M.GeneralNorm((2, 3), (0, 1)), (2, 3)),
]


@pytest.mark.parametrize(("make", "shape"), NORMS)
def test_norms_write_one_axis_and_load_any_shape(make, shape):
    net, values = make(), floats(6)
    assert {array.shape for array in net.state_dict().values()} == {(6,)}
    assert net.weight.shape == shape
    for form in ((6,), shape, (1, 6, 1, 1)):  # MegEngine's, that of older checkpoints, and another
        other = make()
        other.load_state_dict({name: values.reshape(form) for name in net.state_dict()})
        assert other.weight.shape == shape
        assert np.array_equal(other.bias.numpy().ravel(), values)
    with pytest.raises(ValueError, match=r"got .*bias \(5,\) for"):
        net.load_state_dict({name: values[:5] for name in net.state_dict()})


def test_shared_tensors_stand_under_each_name():
    net, other = Tied(), Tied()
    state = net.state_dict()
    assert list(state) == ["embedding.weight", "head.weight", "inner.weight", "outer.weight"]
    other.load_state_dict(state)
    assert same(other.state_dict(), state) and other.head.weight is other.embedding.weight
    assert len(list(net.parameters())) == 2


@pytest.mark.parametrize("kept", [("embedding", "inner"), ("head", "outer")])
def test_one_name_of_a_shared_tensor_is_enough(kept):
    net, other = Tied(), Tied()
    state = net.state_dict()
    other.load_state_dict({f"{name}.weight": state[f"{name}.weight"] for name in kept})
    assert same(other.state_dict(), state)
    with pytest.raises(KeyError, match=r"missing \['embedding.weight'\] and unexpected \[\]"):
        net.load_state_dict({"inner.weight": state["inner.weight"]})


def test_a_module_within_itself_ends():
    net = M.Sequential(M.Linear(1, 1))
    net[0].above = net
    assert list(net.state_dict()) == ["0.bias", "0.weight"]
    net.load_state_dict(net.state_dict())
