"""Checkpoints that MegEngine wrote: states of modules and optimizers, and what they compute."""

from pathlib import Path

import numpy as np
import pytest
import tessera
import tessera.module as M  # noqa: N812
import tessera.optimizer as optim

from tests.frontends.python.megengine.cases import AFTER, BEFORE, MODULES, OPTIMIZERS

FILE = Path(__file__).with_name("megengine.pkl")
CLOSE = {"rtol": 1e-4, "atol": 1e-5}  # two implementations, in float32


@pytest.fixture(scope="module")
def recorded():
    return tessera.load(FILE)


def flat(value):
    """The arrays of a nested result, but for None."""
    if isinstance(value, (tuple, list)):
        return [array for each in value for array in flat(each)]
    return [] if value is None else [value.numpy()]


def module_of(text):
    text, training, _ = text.partition(".train")
    net = eval(f"M.{text}", {"M": M})
    return net.train() if training else net.eval()


def test_the_record_has_every_case(recorded):
    assert recorded["version"] == "1.13.0"
    assert list(recorded["modules"]) == list(MODULES)
    assert list(recorded["optimizers"]) == list(OPTIMIZERS)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_takes_the_state_and_gives_the_numbers(name, recorded):
    net, case = module_of(MODULES[name][0]), recorded["modules"][name]
    assert net.load_state_dict(case["state"]) == []
    outputs = flat(net(*map(tessera.Tensor, case["inputs"])))
    assert len(outputs) >= len(case["outputs"]) > 0
    for got, wanted in zip(outputs, case["outputs"], strict=False):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, **CLOSE)
    for key, wanted in (case["after"] or {}).items():
        np.testing.assert_allclose(net.state_dict()[key], wanted, **CLOSE)


@pytest.mark.parametrize("name", MODULES)
def test_names_and_shapes_of_a_state(name, recorded):
    """What is written has MegEngine's names, but for what MegEngine computes nothing with."""
    state, own = recorded["modules"][name]["state"], module_of(MODULES[name][0]).state_dict()
    if name.startswith("attention"):
        assert list(state) == ["io_weight_bias"]
        assert sum(each.size for each in own.values()) == state["io_weight_bias"].size
        return
    unused = [
        key for key in state if key.startswith("cells.") or (key, name[:9]) == ("bias", "linear_bn")
    ]
    assert {k: v.shape for k, v in own.items()} == {
        k: v.shape for k, v in state.items() if k not in unused}  # fmt: skip
    assert list(own) == [key for key in state if key not in unused]


def test_tensors_of_a_checkpoint_are_tensors(recorded):
    count = 0
    for case in recorded["modules"].values():
        for key, tensor in case["tensors"].items():
            assert isinstance(tensor, tessera.Tensor) and tensor.device == "cpu0"
            np.testing.assert_array_equal(tensor.numpy(), case["state"][key])
            count += 1
    assert count > 40


def test_only_the_cells_names_are_left_out(recorded):
    state = dict(recorded["modules"]["lstm"]["state"])
    for key in ("cells.0.0.other", "cells.0.weight_ih", "cells"):
        with pytest.raises(KeyError, match=rf"unexpected \['{key}'\]"):
            M.LSTM(3, 4).load_state_dict({**state, key: np.zeros(1)})
    del state["_flatten_weights"]
    with pytest.raises(KeyError, match=r"missing \['_flatten_weights'\] and unexpected \[\]"):
        M.LSTM(3, 4).load_state_dict(state)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_goes_on(name, recorded):
    """From the parameters and the state in the middle to the parameters in the end."""
    case = recorded["optimizers"][name]
    params = [tessera.Parameter(array) for array in case["params"][0]]
    optimizer = eval(f"optim.{OPTIMIZERS[name]}", {"optim": optim, "params": params})
    own = optimizer.state_dict()
    optimizer.load_state_dict(case["state"])
    assert len(case["gradients"]) == BEFORE + AFTER
    for step, gradients in enumerate(case["gradients"][BEFORE:], 1):
        for param, gradient in zip(params, gradients, strict=True):
            param.grad = tessera.Tensor(gradient)
        optimizer.step()
        for param, wanted in zip(params, case["params"][step], strict=True):
            np.testing.assert_allclose(param.numpy(), wanted, rtol=1e-5, atol=1e-6)
    for number, values in case["state"]["state"].items():
        assert set(own["state"][number]) == set(values) - set(optimizer.unused_names)
    keys = set(case["state"]["param_groups"][0])
    assert keys <= set(own["param_groups"][0]), keys - set(own["param_groups"][0])
