"""Modules in other dtypes and on other devices; arguments and methods that a module lacks."""

import numpy as np
import pytest
import tessera
from tessera import module as M  # noqa: N812
from tessera import optimizer
from tessera.autodiff import GradManager

from tests.support.helper import floats


def network():
    return M.Sequential(M.Conv2d(1, 2, 3), M.BatchNorm2d(2), M.Flatten(), M.Linear(8, 3))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64"])
def test_to_a_dtype_and_back(name):
    net, x = network().eval(), floats(2, 1, 4, 4)
    before, parameters = net(tessera.Tensor(x)).numpy(), list(net.parameters())
    method = {"float16": net.half, "bfloat16": net.bfloat16, "float64": net.double}[name]
    assert method() is net
    assert {str(each.dtype) for each in net.tensors()} == {name}
    assert all(a is b for a, b in zip(net.parameters(), parameters, strict=True))
    result = net(tessera.Tensor(x).astype(name))
    assert str(result.dtype) == name
    np.testing.assert_allclose(result.astype("float32").numpy(), before, atol=5e-2)
    net.float()
    assert {str(each.dtype) for each in net.tensors()} == {"float32"}
    assert net.to(tessera.float64) is net and net[0].weight.dtype == "float64"
    assert net.to(dtype="float32")[0].weight.dtype == "float32"


def test_integers_and_names_stay():
    net = M.Linear(2, 2)
    net.count = tessera.tensor([1, 2])
    net.weight.name = "own"
    net.half()
    assert net.count.dtype == "int32" and net.weight.name == "own"
    assert isinstance(net.weight, tessera.Parameter)


def test_gradients_follow_and_training_goes_on():
    net = M.Linear(2, 2)
    manager = GradManager().attach(net.parameters())
    x = tessera.Tensor(floats(3, 2))
    with manager:
        manager.backward(net(x).sum())
    net.double()
    assert net.weight.grad.dtype == "float64"
    steps = optimizer.SGD(net.parameters(), lr=0.1)
    before = net.weight.numpy()
    steps.step()
    assert net.weight.dtype == "float64" and (net.weight.numpy() != before).any()


def test_to_a_device_and_back():
    net, x = M.Linear(2, 3), floats(4, 2)
    expected = net(tessera.Tensor(x)).numpy()
    assert net.to("sim0") is net
    assert {each.device for each in net.tensors()} == {"sim0"}
    got = net(tessera.Tensor(x, device="sim0"))
    assert got.device == "sim0"
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6)
    net.to("cpu0", "float64")
    assert net.weight.device == "cpu0" and net.weight.dtype == "float64"


def test_what_is_no_dtype_and_no_device():
    for wrong in ("int32", "text", 3):
        with pytest.raises(TypeError, match="Linear: dtype must be one of float16, .*, got"):
            M.Linear(2, 2).to(dtype=wrong)
    with pytest.raises(ValueError, match="tpu0"):
        M.Linear(2, 2).to("tpu0")


def test_unknown_arguments_list_the_known_ones():
    known = "in_features, out_features, bias, compute_mode, name"
    with pytest.raises(TypeError, match=f"^Linear: arguments must be among {known}, got out$"):
        M.Linear(10, out=3)
    with pytest.raises(
        TypeError, match="^Dropout: arguments must be among drop_prob, name, got p$"
    ):
        M.Dropout(p=0.5)
    with pytest.raises(TypeError, match="LSTM: arguments .*proj_size, name, got batchfirst, width"):
        M.LSTM(2, 3, batchfirst=True, width=2)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'out_features'"):
        M.Linear(10)


class Plain(M.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = M.Linear(width, width)


def test_a_module_without_forward_says_so_when_it_is_called():
    net = Plain(2)
    assert len(list(net.parameters())) == 2
    with pytest.raises(NotImplementedError, match="^Plain: forward must be given, got none"):
        net(tessera.tensor([1.0, 2.0]))
